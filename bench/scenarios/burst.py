"""Many long prompts at once, then quiet: what was taken must be given back."""

import time

from harness import native
from harness.results import Metric
from harness.rounds import say

PROMPTS = 2000
QUIET_SECONDS = (10, 20, 30, 45)
TITLE = "A burst of prompts"
QUESTION = (f"{PROMPTS:,} prompts of 400 KB at once; the replicas wait 4 s before they answer, so that all prompts are held together. "
            f"Resident memory before (a process that served small requests and 100 KB prompts, and rested), at its highest, and after up to "
            f"{QUIET_SECONDS[-1]} s without requests.")
METRICS = [
    Metric("left", "", "memory after the burst divided by that before", digits=2, value=True),
    Metric("before", "MiB", "resident memory before", digits=0, value=True),
    Metric("peak", "MiB", "at its highest", digits=0, value=True),
    Metric("after", "MiB", "afterwards", digits=0, value=True, chart=True),
    Metric("seconds", "s", "until all were answered", digits=1, value=True),
]
GIVEN_BACK = 1.2


def run(run):
    for order, peer in enumerate(run.candidates):
        with run.deployed(peer) as (proxy,):
            measure(run, proxy, order)


def measure(run, proxy, order):
    for body in ("small", "prompt100k"):
        run.load_slice(proxy, body, 2 * run.options.seconds)
    time.sleep(3)
    before = proxy.rss_kib()
    proxy.forget_peak()
    proxy.set_replica(events=1, interval_ms=1, first_ms=4000)
    result = native.run_burst(proxy.port, run.bodies["prompt400k"], PROMPTS, run.options.load_cores)
    ended = time.monotonic()
    for seconds in QUIET_SECONDS:
        time.sleep(max(0.0, ended + seconds - time.monotonic()))
        after = proxy.rss_kib()
        say(f"  after {seconds} s: {after / 1024:.0f} MiB, {after / before:.2f} of before")
        if after <= GIVEN_BACK * before:
            break
    run.record("burst", proxy, 0, order, left=after / before, before=before / 1024, peak=proxy.peak_rss_kib() / 1024,
               after=after / 1024, seconds=result["seconds"])
