"""CPU for each request under closed-loop load: what `small` and `prompt100k` share."""

from harness.results import CORE_SHARES, Metric
from harness.rounds import Run

METRICS = [
    Metric("cpu", "µs", "CPU of the proxy for each request", ratio=True, chart=True),
    Metric("user", "µs", "of it in user space", ratio=True),
    Metric("system", "µs", "of it in the kernel"),
    Metric("rate", "/s", "requests each second", digits=0),
    Metric("upstream", "", "connections to the replicas", digits=0, detail=True),
    *CORE_SHARES,
]


def measure(run: Run, scenario: str, body: str, **replica: int) -> None:
    with run.deployed(run.candidate, *run.proxying) as (candidate, *others):
        for proxy in (candidate, *others):
            proxy.set_replica(**replica)

            def cost(slice_seconds: float, proxy=proxy) -> float:
                result, window = run.load_slice(proxy, body, slice_seconds)
                return window.total / result["requests"]

            run.warm_up(proxy, cost)
        for round_, order, proxy in run.turns(candidate, others, run.options.rounds):
            result, window = run.load_slice(proxy, body, run.options.seconds)
            requests = result["requests"]
            run.record(scenario, proxy, round_, order, cpu=window.total / requests, user=window.user / requests,
                       system=window.system / requests, rate=requests / result["seconds"],
                       upstream=window.upstream_connections, **window.shares())
