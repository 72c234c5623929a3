"""Resident memory and CPU at rest: fresh, after load, and with many clients that say nothing."""

import time

from harness import clients, machine
from harness.results import Metric

CLIENTS = 9000
TITLE = "At rest"
QUESTION = (f"Resident memory and CPU time at rest, from 3 s after the first answer; then with {CLIENTS:,} keep-alive clients that asked "
            "once and say nothing more, before any load; and, in another process, after a load of small requests and 100 KB prompts on 64 "
            "connections.")
METRICS = [
    Metric("fresh", "MiB", "resident memory after the start", ratio=True, chart=True),
    Metric("loaded", "MiB", "resident memory after load", ratio=True, chart=True),
    Metric("clients", "MiB", f"resident memory with {CLIENTS:,} idle clients", ratio=True),
    Metric("client", "KiB", "of it for each client", digits=2, value=True),
    Metric("fresh_cpu", "ms/s", "CPU when fresh", digits=2, value=True),
    Metric("loaded_cpu", "ms/s", "CPU after load", digits=2, value=True),
    Metric("clients_cpu", "ms/s", f"CPU with {CLIENTS:,} idle clients", digits=2, value=True),
]
REST_SECONDS = 3
ROUNDS_MAX = 2


def run(run):
    for round_ in range(run.rounds(ROUNDS_MAX)):
        for order, peer in enumerate([*run.proxying, run.candidate]):
            values = {}
            with run.deployed(peer) as (proxy,):
                values["fresh"], values["fresh_cpu"] = rest(proxy)
                with clients.idle(proxy.port, CLIENTS, run.bodies["small"].read_bytes()):
                    values["clients"], values["clients_cpu"] = rest(proxy)
                values["client"] = (values["clients"] - values["fresh"]) * 1024 / CLIENTS
            with run.deployed(peer) as (proxy,):
                for body in ("small", "prompt100k"):
                    run.load_slice(proxy, body, 2 * run.options.seconds)
                values["loaded"], values["loaded_cpu"] = rest(proxy)
            run.record("idle", proxy, round_, order, **values)


def rest(proxy):
    """Waits, then resident memory in MiB and CPU time in ms for each second."""
    time.sleep(REST_SECONDS)
    began, before = time.monotonic(), machine.run_micros(proxy.pids)
    time.sleep(REST_SECONDS)
    used = (machine.run_micros(proxy.pids) - before) / 1e3
    return proxy.rss_kib() / 1024, used / (time.monotonic() - began)
