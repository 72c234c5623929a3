"""CPU for each request under closed-loop load: what `small`, `prompt100k` and others share."""

from harness.peers import Peer
from harness.results import CORE_SHARES, Metric
from harness.rounds import CpuWindow, Run

METRICS = [
    Metric("cpu", "µs", "CPU of the proxy for each request", ratio=True, chart=True),
    Metric("user", "µs", "of it in user space", ratio=True),
    Metric("system", "µs", "of it in the kernel"),
    Metric("rate", "/s", "requests each second", digits=0),
    Metric("upstream", "", "connections to the replicas", digits=0, detail=True),
    *CORE_SHARES,
]
TIMES = [
    Metric("p50", "ms", "median of the answer's time", ratio=True, digits=2),
    Metric("p99", "ms", "99th percentile", ratio=True, digits=2),
    Metric("p999", "ms", "99.9th percentile", ratio=True, digits=2),
]


def measure(run: Run, scenario: str, body: str, others: list[Peer] | None = None, rounds: int | None = None, **replica: int) -> None:
    """All proxies of the run, or the candidate and the given others, in turn."""
    with run.deployed(run.candidate, *(run.proxying if others is None else others)) as (candidate, *rest):
        for proxy in (candidate, *rest):
            proxy.set_replica(**replica)
            run.warm_up_load(proxy, body)
        for round_, order, proxy in run.turns(candidate, rest, rounds or run.options.rounds):
            result, window = run.load_slice(proxy, body, run.options.seconds)
            run.record(scenario, proxy, round_, order, **costs(result, window))


def costs(result: dict[str, float], window: CpuWindow) -> dict[str, float]:
    requests = result["requests"]
    return {"cpu": window.total / requests, "user": window.user / requests, "system": window.system / requests,
            "rate": requests / result["seconds"], "upstream": window.upstream_connections, **window.shares()}


def times(result: dict[str, float]) -> dict[str, float]:
    return {"p50": result["total_p50_us"] / 1e3, "p99": result["total_p99_us"] / 1e3, "p999": result["total_p999_us"] / 1e3}
