"""Wilcoxon's signed-rank test with its exact distribution, and the estimate and the interval that belong to it."""

import statistics
from dataclasses import dataclass


def rank_sums(ranks: list[int]) -> list[int]:
    """For each sum, how many of the 2^n ways to give the ranks a sign lead to it as the sum of the positive ones."""
    ways = [1]
    for rank in ranks:
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    return ways


def doubled_ranks(sizes: list[float]) -> list[int]:
    """Twice the rank of each size, so that equal sizes can share the mean of their ranks."""
    ordered = sorted(sizes)
    first = {size: ordered.index(size) for size in set(sizes)}
    return [2 * first[size] + ordered.count(size) + 1 for size in sizes]


def p_greater(values: list[float]) -> float:
    """The chance of ranks as high as these, were each value as likely to be negative as positive; a zero speaks for neither."""
    ranked = [(value, rank) for value, rank in zip(values, doubled_ranks([abs(v) for v in values])) if value != 0]
    ways = rank_sums([rank for _, rank in ranked])
    return sum(ways[sum(rank for value, rank in ranked if value > 0):]) / 2 ** len(ranked)


def fewest_pairs(level: float) -> int:
    """With fewer pairs not even their full agreement is as unlikely as this."""
    return next(n for n in range(1, 64) if 0.5 ** n <= level)


@dataclass(frozen=True)
class Centre:
    """Where values lie: the median of the means of any two of them (Hodges and Lehmann), and an interval around it."""

    middle: float
    low: float
    high: float

    @staticmethod
    def of(values: list[float], level: float) -> "Centre":
        """`level` is the chance that the truth lies below the interval, and again that it lies above."""
        n = len(values)
        means = sorted((values[i] + values[j]) / 2 for i in range(n) for j in range(i, n))
        left_out = most_left_out(n, level)
        return Centre(statistics.median(means), means[left_out], means[-1 - left_out])


def most_left_out(n: int, level: float) -> int:
    """The largest rank sum that, with all smaller ones, has no more than this chance; 0 when there is none."""
    chance = 0.0
    for total, count in enumerate(rank_sums(list(range(1, n + 1)))):
        chance += count / 2 ** n
        if chance > level:
            return max(0, total - 1)
    raise ValueError(f"level: {level} (expected: below 1)")
