"""A small request beside many models and many keys: what is not asked for must cost nothing."""

from harness import closed_loop

TITLE = "Many models, many keys"
QUESTION = ("The small request again, of a gateway with one model and one key, and beside it gateways whose routes.yaml has 100 and 1,000 models "
            "and whose keys.yaml has 10,000 keys. Ratios compare these with the gateway of one: 1 means that the cost doesn't grow.")
METRICS = closed_loop.METRICS
ROUNDS_MAX = 4


def run(run):
    variants = [run.candidate.variant("100-models", models=100), run.candidate.variant("1000-models", models=1000),
                run.candidate.variant("10000-keys", keys=10_000)]
    closed_loop.measure(run, "routes", "small", others=variants, rounds=run.rounds(ROUNDS_MAX))
