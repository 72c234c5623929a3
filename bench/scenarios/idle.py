"""Resident memory at rest, before and after load."""

import time

from harness.results import Metric

TITLE = "Memory at rest"
QUESTION = ("Resident memory 3 s after the first answer, and 3 s after a load of small requests and 100 KB prompts on 64 connections.")
METRICS = [
    Metric("fresh", "MiB", "resident memory after the start", ratio=True, chart=True),
    Metric("loaded", "MiB", "resident memory after load", ratio=True, chart=True),
]
REST_SECONDS = 3
ROUNDS_MAX = 3


def run(run):
    for round_ in range(min(ROUNDS_MAX, run.options.rounds)):
        for order, peer in enumerate([*run.proxying, run.candidate]):
            with run.deployed(peer) as (proxy,):
                time.sleep(REST_SECONDS)
                fresh = proxy.rss_kib()
                for body in ("small", "prompt100k"):
                    run.load_slice(proxy, body, 2 * run.options.seconds)
                time.sleep(REST_SECONDS)
                run.record("idle", proxy, round_, order, fresh=fresh / 1024, loaded=proxy.rss_kib() / 1024)
