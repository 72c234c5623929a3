"""From exec to the first relayed answer."""

from harness.options import TARGET
from harness.results import Metric
from harness.rounds import say

TITLE = "Start"
QUESTION = ("Time from the start of the process to the first 200 that came through it, asked for every 2 ms, on the proxy's one core; and "
            "resident memory right then. `aot` is the gateway with the cache that `dromedary aot` makes on Java 25 (the gateway without "
            "a label has none).")
METRICS = [
    Metric("seconds", "s", "to the first answer", ratio=True, chart=True, digits=2),
    Metric("rss", "MiB", "resident memory at the first answer", ratio=True),
]


def run(run):
    chosen = [*run.proxying, *with_cache(run), run.candidate]
    for round_ in range(run.options.rounds):
        for order, peer in enumerate(chosen):
            with run.deployed(peer) as (proxy,):
                run.record("start", proxy, round_, order, seconds=proxy.start_seconds, rss=proxy.rss_kib() / 1024)


def with_cache(run):
    """The candidate as it starts with an AOT cache, made here; nothing when it can't make one."""
    make = getattr(run.candidate.module, "make_aot_cache", None)
    if make is None:
        return []
    cache = TARGET / "dromedary.aot"
    complaint = make(run.options, cache)
    if complaint:
        say(f"  start with an AOT cache skipped: {complaint}")
        return []
    return [run.candidate.variant("aot", aot_cache=cache)]
