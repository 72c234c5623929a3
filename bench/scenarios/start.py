"""From exec to the first relayed answer."""

from harness.results import Metric

TITLE = "Start"
QUESTION = "Time from the start of the process to the first 200 that came through it, asked for every 2 ms, on the proxy's one core."
METRICS = [Metric("seconds", "s", "to the first answer", ratio=True, chart=True, digits=2)]


def run(run):
    for round_ in range(run.options.rounds):
        for order, peer in enumerate([*run.proxying, run.candidate]):
            with run.deployed(peer) as (proxy,):
                run.record("start", proxy, round_, order, seconds=proxy.start_seconds)
