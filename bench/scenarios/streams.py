"""Many streams open at once: what a relayed event and an open stream cost."""

import time

from harness import native
from harness.options import Complaint
from harness.results import CORE_SHARES, Metric

TITLE = "Many open streams"
QUESTION = ("N streams, each opened with a 100 KB prompt, about 15,000 events each second over all of them whatever N is, every event a "
            "write of its own: the proxy's core relays each of them, the other core sends and receives it. At most 64 streams wait for their "
            "first byte at a time. `streams` is 1,000, `streams9000` is 9,000. Events are counted at the client, in windows in which no "
            "stream opens or ends. Memory is the resident size with all streams open, less the size after a warm-up with 20 streams, "
            "divided by N.")
METRICS = [
    Metric("cpu", "µs", "CPU of the proxy for each relayed event", ratio=True, chart=True),
    Metric("user", "µs", "of it in user space", ratio=True),
    Metric("system", "µs", "of it in the kernel"),
    Metric("memory", "KiB", "resident memory for each open stream", ratio=True, chart=True),
    Metric("rss", "MiB", "resident memory of the process with all streams open", digits=0),
    Metric("rate", "/s", "events each second", digits=0),
    Metric("per_read", "", "events in each of the client's reads", digits=2),
    *CORE_SHARES,
]
EVENTS_PER_SECOND = 15_000
ENDLESS = 1_000_000
"""Content events of a stream: more than any window needs."""
WARM_STREAMS = 20


def run(run):
    for streams in run.options.streams:
        measure(run, streams)


def measure(run, streams):
    scenario = "streams" if streams == 1000 else f"streams{streams}"
    interval_ms = max(1, round(streams * 1000 / EVENTS_PER_SECOND))
    rounds = run.rounds(3 if streams <= 2000 else 2)
    peers = run.proxying if streams == 1000 or len(run.options.streams) == 1 else run.among("nginx", "nginx-lua")
    with run.deployed(run.candidate, *peers) as (candidate, *others):
        fresh = {}
        for proxy in (candidate, *others):
            warm_up(run, proxy)
            proxy.set_replica(events=ENDLESS, interval_ms=interval_ms)
            fresh[proxy.name] = proxy.rss_kib()
        for round_, order, proxy in run.turns(candidate, others, rounds):
            result, window, open_kib = stream_slice(run, proxy, streams, run.options.seconds)
            events = result["events"]
            run.record(scenario, proxy, round_, order, cpu=window.total / events, user=window.user / events,
                       system=window.system / events, memory=(open_kib - fresh[proxy.name]) / streams, rss=open_kib / 1024,
                       rate=events / result["seconds"], per_read=events / result["reads"],
                       **window.shares())


def warm_up(run, proxy):
    """The request's path on few connections, then the relay's at a high pace: few streams, so that little memory is taken yet."""
    def request_cost(seconds):
        result, window = run.load_slice(proxy, "prompt100k", seconds, connections=4)
        return window.total / result["requests"]

    def event_cost(seconds):
        result, window, _ = stream_slice(run, proxy, WARM_STREAMS, seconds)
        return window.total / result["events"]

    proxy.set_replica(events=1, interval_ms=0)
    run.warm_up(proxy, request_cost)
    proxy.set_replica(events=ENDLESS, interval_ms=1)
    run.warm_up(proxy, event_cost)


def stream_slice(run, proxy, streams, seconds):
    """Opens the streams, measures one window, closes them; the replica must see every one of them end."""
    window = run.window(proxy)
    open_kib = []
    result = native.run_streams(proxy.port, run.bodies["prompt100k"], streams, 1000, 500, 0, seconds, run.options.load_cores,
                                lambda: open_kib.append(proxy.rss_kib()), window.begin, window.end)
    proxy.check_alive()
    deadline = time.monotonic() + 10
    while (left := proxy.set_replica()["streams_open"]) > 0:
        if time.monotonic() > deadline:
            raise Complaint(f"{proxy.name}: {left} streams still run 10 s after their clients left")
        time.sleep(0.05)
    return result, window, open_kib[0]
