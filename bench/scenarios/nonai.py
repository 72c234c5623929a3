"""An ordinary Camel route on the gateway's port: inference must cost it nothing."""

from harness import closed_loop
from harness.peers import Peer
from harness.rounds import say

TITLE = "A route without inference"
QUESTION = ("GET /hello on 64 connections, answered by a route with one `setBody`: on the gateway's port beside inference, and in plain Camel "
            "that runs nothing but this route. A ratio of 1 or less means that inference costs an ordinary route nothing.")
METRICS = [*closed_loop.METRICS, *closed_loop.TIMES]
ROUNDS_MAX = 4
PATH = "/hello"


def run(run):
    camel = Peer("camel", run.options)
    if camel.missing:
        say(f"  skipped: {camel.missing}")
        return
    with run.deployed(run.candidate, camel) as (candidate, other):
        for proxy in (candidate, other):
            run.warm_up_load(proxy, PATH)
        for round_, order, proxy in run.turns(candidate, [other], run.rounds(ROUNDS_MAX)):
            result, window = run.load_slice(proxy, PATH, run.options.seconds)
            run.record("nonai", proxy, round_, order, **closed_loop.costs(result, window), **closed_loop.times(result))
