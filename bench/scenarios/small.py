"""A short prompt and a plain JSON answer: what a request costs before any byte of substance."""

from harness import closed_loop

TITLE = "Small request"
QUESTION = ("A 120-character prompt and a JSON answer of about 600 bytes, 64 client connections, one request at a time on each. "
            "As many as the load's core can make.")
METRICS = closed_loop.METRICS


def run(run):
    closed_loop.measure(run, "small", "small")
