"""A long prompt and a short streamed answer: what reading, routing by and passing on a prompt costs."""

from harness import closed_loop

TITLE = "100 KB prompt, short streamed answer"
QUESTION = ("A prompt of 98,000 characters; the answer is a stream of a role, a content and a finish event, a usage event if the "
            "proxy asked for it, and [DONE], all in one write of the replica. As many as the load's core can make.")
METRICS = closed_loop.METRICS


def run(run):
    closed_loop.measure(run, "prompt100k", "prompt100k", events=1, interval_ms=0)
