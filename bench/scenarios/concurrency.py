"""The same small request from few and from many connections: throughput and the answer's times."""

import time

from harness import closed_loop
from harness.results import CORE_SHARES, Metric

TITLE = "Concurrency"
LEVELS = (1, 16, 64, 256)
QUESTION = ("Small requests as before, from 1, 16, 64 and 256 client connections (`concurrency1` and so on), one request at a time on each. "
            "Times are the client's, in a closed loop on a core that it shares with the replicas: with many connections they are mostly "
            "waiting for a turn.")
METRICS = [
    Metric("cpu", "µs", "CPU of the proxy for each request", ratio=True),
    *closed_loop.TIMES,
    Metric("rate", "/s", "requests each second", digits=0, value=True),
    Metric("upstream", "", "connections to the replicas", digits=0),
    *CORE_SHARES,
]
ROUNDS_MAX = 3
POOL_SECONDS = 5
"""Time for the gateway to close what the warm-up opened to its replicas; nginx keeps all that it ever had."""


def run(run):
    with run.deployed(run.candidate, *run.among("nginx", "nginx-lua")) as (candidate, *others):
        for proxy in (candidate, *others):
            run.warm_up_load(proxy, "small", connections=None if proxy.peer.jit else 1)
        time.sleep(POOL_SECONDS)
        for level in LEVELS:
            for round_, order, proxy in run.turns(candidate, others, run.rounds(ROUNDS_MAX)):
                result, window = run.load_slice(proxy, "small", run.options.seconds, connections=level)
                measured = closed_loop.costs(result, window) | closed_loop.times(result)
                run.record(f"concurrency{level}", proxy, round_, order, **{m.name: measured[m.name] for m in METRICS})
