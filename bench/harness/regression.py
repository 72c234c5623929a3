"""When is one build slower than another? The rule of bench/guard.

It fails when two things hold at once: the signed-rank test says that the tree costs more than the base (p at most 1 % if
they were equal), and it costs at least 5 % more, by the estimate that belongs to the test. The test alone would fail at
differences that nobody minds, the estimate alone at noise. Testing against 5 % instead of 0 would let a regression of
just 5 % pass 99 times out of 100; this way it fails about every second time, one of 8 % nearly always, and none hardly ever.
"""

import math
from dataclasses import dataclass

from harness import signed_rank
from harness.signed_rank import Centre

LEVEL = 0.01
LIMIT = 1.05
FEWEST_PAIRS = signed_rank.fewest_pairs(LEVEL)


@dataclass(frozen=True)
class Verdict:
    """What the pairs of one scenario say; ratios are tree by base."""

    ratio: Centre
    p: float

    @staticmethod
    def of(base: list[float], tree: list[float]) -> "Verdict":
        """Judges pairs of costs: base[i] and tree[i] were measured next to one another."""
        logs = [math.log(t / b) for b, t in zip(base, tree, strict=True)]
        centre = Centre.of(logs, LEVEL)
        return Verdict(Centre(math.exp(centre.middle), math.exp(centre.low), math.exp(centre.high)), signed_rank.p_greater(logs))

    @property
    def fails(self) -> bool:
        return self.p <= LEVEL and self.ratio.middle >= LIMIT

    @property
    def word(self) -> str:
        return "fail" if self.fails else "pass"

    @property
    def may_hide_a_regression(self) -> bool:
        """Whether the pairs were too few or too noisy to rule out what the guard is there for."""
        return not self.fails and self.ratio.high >= LIMIT

    def line(self, scenario: str) -> str:
        """For programs: GUARD small 1.012 [0.970..1.060] p=0.31 pass."""
        shown = f"{self.p:.2g}" if self.p < 0.1 else f"{self.p:.2f}"
        return f"GUARD {scenario} {self.ratio.middle:.3f} [{self.ratio.low:.3f}..{self.ratio.high:.3f}] p={shown} {self.word}"
