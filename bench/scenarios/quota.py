"""A container's CPU quota: event loops for the cores that it grants against more of them."""

import contextlib
import os

from harness import closed_loop, quota
from harness.options import Complaint
from harness.results import Metric
from harness.rounds import say

TITLE = "CPU quota"
QUESTION = ("Small requests on 64 connections to a gateway that may run on every core but has a CPU quota (1.5 cores; 0.75 on machines of "
            "fewer than four, where load and replicas need the rest). Without a label the gateway chooses its event loops by the quota; beside it "
            "gateways told to use 1 and 8. Throttled are the periods of 100 ms in which the quota was used up.")
METRICS = [
    closed_loop.TIMES[1],
    closed_loop.TIMES[0],
    closed_loop.TIMES[2],
    Metric("cpu", "µs", "CPU for each request", ratio=True),
    Metric("rate", "/s", "requests each second", digits=0, value=True),
    Metric("throttled", "%", "of the periods throttled", digits=0, value=True),
    Metric("lost", "ms/s", "time that threads waited for their quota", digits=0, value=True),
]
ROUNDS_MAX = 4
LOOPS = {1: "1-loop", 8: "8-loops"}


def run(run):
    cores = run.options.quota or (1.5 if (os.cpu_count() or 1) >= 4 else 0.75)
    everywhere = f"0-{(os.cpu_count() or 1) - 1}"
    with contextlib.ExitStack() as stack:
        try:
            groups = [stack.enter_context(quota.group(name, cores)) for name in ("own", *map(str, LOOPS))]
        except Complaint as e:
            say(f"  skipped: {e}")
            return
        say(f"  quota {cores:g} cores")
        common = [{"cgroup": g.folder, "cores": everywhere} for g in groups]
        own = run.candidate.variant("", **common[0], event_loops=0)
        own.name = run.candidate.name
        others = [run.candidate.variant(label, **settings, event_loops=n) for (n, label), settings in zip(LOOPS.items(), common[1:])]
        with run.deployed(own, *others) as proxies:
            of = {proxy.name: group for proxy, group in zip(proxies, groups)}
            for proxy in proxies:
                run.warm_up_load(proxy, "small")
            for round_, order, proxy in run.turns(proxies[0], proxies[1:], run.rounds(ROUNDS_MAX)):
                measure(run, proxy, of[proxy.name], round_, order)


def measure(run, proxy, group, round_, order):
    before = group.throttled()
    result, window = run.load_slice(proxy, "small", run.options.seconds)
    after = group.throttled()
    passed = {name: after[name] - before[name] for name in after}
    run.record("quota", proxy, round_, order, **closed_loop.times(result), cpu=window.total / result["requests"],
               rate=result["requests"] / result["seconds"], throttled=100 * passed["throttled"] / max(1, passed["periods"]),
               lost=passed["lost"] / 1e3 / result["seconds"])
