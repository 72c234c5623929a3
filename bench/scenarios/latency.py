"""One request at a time: what a proxy adds to an answer's time when nothing waits for anything else."""

from harness.options import Complaint
from harness.peers import Peer
from harness.results import Metric

TITLE = "Added latency"
QUESTION = ("One connection, one request at a time. Shown is the proxy's time less that of the replica without a proxy, measured in the "
            "same round: small requests to the last byte, 100 KB prompts to the first.")
METRICS = [
    Metric("small_p50", "µs", "added to the median of a small request", ratio=True, chart=True),
    Metric("small_p99", "µs", "added to the 99th percentile of a small request", ratio=True, chart=True),
    Metric("prompt100k_p50", "µs", "added to the median time to the first byte after a 100 KB prompt", ratio=True),
    Metric("prompt100k_p99", "µs", "added to the 99th percentile of the same", ratio=True),
]


def run(run):
    direct = Peer("direct", run.options)
    with run.deployed(direct, run.candidate, *run.proxying) as (base, candidate, *others):
        for proxy in (candidate, *others):
            for body in ("small", "prompt100k"):
                run.warm_up(proxy, lambda seconds, proxy=proxy, body=body: cost(run, proxy, body, seconds))
        without_proxy, last_round = {}, -1
        for round_, order, proxy in run.turns(candidate, others, run.options.rounds):
            if round_ != last_round:
                without_proxy, last_round = times(run, base), round_
            with_proxy = times(run, proxy)
            run.record("latency", proxy, round_, order, **{name: with_proxy[name] - without_proxy[name] for name in with_proxy})


def cost(run, proxy, body, seconds):
    result, window = run.load_slice(proxy, body, seconds)
    return window.total / result["requests"]


def times(run, proxy):
    """The four times of one proxy, in µs, named as the metrics are."""
    small, _ = run.load_slice(proxy, "small", run.options.seconds / 2, connections=1)
    prompt, _ = run.load_slice(proxy, "prompt100k", run.options.seconds / 2, connections=1)
    if min(small["requests"], prompt["requests"]) < 100:
        raise Complaint("too few requests for a 99th percentile; raise --seconds")
    return {"small_p50": small["total_p50_us"], "small_p99": small["total_p99_us"],
            "prompt100k_p50": prompt["first_p50_us"], "prompt100k_p99": prompt["first_p99_us"]}
