"""System calls and heap allocations of a request: why it costs what it costs."""

import time

from harness import inside
from harness.results import Metric
from harness.rounds import say

TITLE = "System calls and allocations"
QUESTION = ("System calls of all threads for each request, counted by `strace -c -f`, which slows a proxy down, so that more is done for "
            "each wake-up; and bytes that Java's threads allocate on the heap for each request, from their own counters, without strace. "
            "64 connections; `internals-small` and `internals-prompt100k` are the requests of the scenarios of these names.")
METRICS = [
    Metric("calls", "", "system calls for each request", ratio=True, digits=2),
    Metric("reads", "", "of them reads", digits=2, value=True),
    Metric("writes", "", "writes", digits=2, value=True),
    Metric("waits", "", "waits for events", digits=2, value=True),
    Metric("locks", "", "futex", digits=2, value=True),
    Metric("allocated", "KiB", "allocated on the heap for each request", digits=2, value=True),
]
STRACE_SECONDS = 2


def run(run):
    missing = inside.strace_missing()
    if missing:
        say(f"  system calls skipped: {missing}")
    with run.deployed(run.candidate, *run.among("nginx", "nginx-lua")) as proxies:
        for body in ("small", "prompt100k"):
            for proxy in proxies:
                proxy.set_replica(events=1, interval_ms=0)
                run.warm_up_load(proxy, body)
        for body in ("small", "prompt100k"):
            for order, proxy in enumerate([*proxies[1:], proxies[0]]):
                values = {} if missing else system_calls(run, proxy, body)
                values |= allocations(run, proxy, body) if proxy is proxies[0] else {}
                if values:
                    run.record(f"internals-{body}", proxy, 0, order, **values)


def system_calls(run, proxy, body):
    """Calls for each request; requests are counted at the replica while strace is attached."""
    found = {}

    def watch():
        count = inside.CallCount(proxy.pids, run.options.load_cores, run.bodies["small"].with_name("strace.txt"))
        count.start()
        before = requests(proxy)
        time.sleep(STRACE_SECONDS)
        answered = requests(proxy) - before
        found.update({kind: n / max(1, answered) for kind, n in inside.by_kind(count.stop()).items()})

    run.load_slice(proxy, body, STRACE_SECONDS + 4, at_begin=watch)
    return found


def requests(proxy):
    return proxy.set_replica()["requests"]


def allocations(run, proxy, body):
    command = inside.jcmd(run.options)
    if command is None:
        say("  allocations skipped: no jcmd (it comes with a JDK)")
        return {}
    window = []

    def note():
        window.append((inside.allocated_bytes(command, proxy.pids[0]), requests(proxy)))

    run.load_slice(proxy, body, 2 * run.options.seconds, at_begin=note, at_end=note)
    (bytes_before, before), (bytes_after, after) = window
    if bytes_before is None or bytes_after is None:
        say("  allocations skipped: the process doesn't answer jcmd")
        return {}
    return {"allocated": (bytes_after - bytes_before) / (after - before) / 1024}
