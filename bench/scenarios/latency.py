"""One request at a time: what a proxy adds to an answer's time when nothing waits for anything else."""

from harness import native
from harness.options import Complaint
from harness.peers import Peer
from harness.results import Metric

TITLE = "Added latency"
QUESTION = ("One connection, one request at a time. Shown is the proxy's time less that of the replica without a proxy, measured in the "
            "same round: small requests to the last byte, 100 KB prompts to the first. Jitter: 20 streams of 50 events each second, how far "
            "the time between two reads of a stream is from 20 ms. Whole streams: 50 at a time, 100 events each at 100 each second, from the request "
            "to the last byte.")
METRICS = [
    Metric("small_p50", "µs", "added to the median of a small request", ratio=True, chart=True),
    Metric("small_p99", "µs", "added to the 99th percentile of a small request", ratio=True, chart=True),
    Metric("prompt100k_p50", "µs", "added to the median time to the first byte after a 100 KB prompt", ratio=True),
    Metric("prompt100k_p99", "µs", "added to the 99th percentile of the same", ratio=True),
    Metric("jitter_p99", "µs", "added to the 99th percentile of the time between events", digits=0, value=True),
    Metric("stream_p50", "µs", "added to the median time of a whole stream", digits=0, value=True),
]
ROUNDS_MAX = 3
JITTER_STREAMS, JITTER_MILLIS = 20, 20
WHOLE_STREAMS, WHOLE_EVENTS, WHOLE_MILLIS = 50, 98, 10


def run(run):
    direct = Peer("direct", run.options)
    with run.deployed(direct, run.candidate, *run.proxying) as (base, candidate, *others):
        for proxy in (candidate, *others):
            for body in ("small", "prompt100k"):
                run.warm_up_load(proxy, body)
        without_proxy, last_round = {}, -1
        for round_, order, proxy in run.turns(candidate, others, run.rounds(ROUNDS_MAX)):
            if round_ != last_round:
                without_proxy, last_round = times(run, base), round_
            with_proxy = times(run, proxy)
            run.record("latency", proxy, round_, order, **{name: with_proxy[name] - without_proxy[name] for name in with_proxy})


def times(run, proxy):
    """The times of one proxy, in µs, named as the metrics are."""
    proxy.set_replica(events=1, interval_ms=0)
    small, _ = run.load_slice(proxy, "small", run.options.seconds / 2, connections=1)
    prompt, _ = run.load_slice(proxy, "prompt100k", run.options.seconds / 2, connections=1)
    if min(small["requests"], prompt["requests"]) < 100:
        raise Complaint("too few requests for a 99th percentile; raise --seconds")
    proxy.set_replica(events=1_000_000, interval_ms=JITTER_MILLIS)
    jitter = native.run_streams(proxy.port, run.bodies["small_stream"], JITTER_STREAMS, 1000, 200, JITTER_MILLIS, run.options.seconds / 2,
                                run.options.load_cores, *[lambda: None] * 3)
    proxy.set_replica(events=WHOLE_EVENTS, interval_ms=WHOLE_MILLIS)
    whole, _ = run.load_slice(proxy, "small_stream", run.options.seconds, connections=WHOLE_STREAMS)
    return {"jitter_p99": jitter["jitter_p99_us"], "stream_p50": whole["total_p50_us"],
            "small_p50": small["total_p50_us"], "small_p99": small["total_p99_us"],
            "prompt100k_p50": prompt["first_p50_us"], "prompt100k_p99": prompt["first_p99_us"]}
