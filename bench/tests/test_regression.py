"""The rank test against published tables and by hand, and the guard's rule on made-up pairs."""

import itertools
import math
import random
import unittest

from harness import signed_rank
from harness.regression import FEWEST_PAIRS, LEVEL, Verdict
from harness.signed_rank import Centre


def by_hand(values: list[float]) -> float:
    """Tries all signs of ranks that are all different."""
    ranks = [1 + sorted(map(abs, values)).index(abs(v)) for v in values]
    seen = sum(rank for value, rank in zip(values, ranks) if value > 0)
    sums = [sum(itertools.compress(ranks, signs)) for signs in itertools.product((0, 1), repeat=len(values))]
    return sum(total >= seen for total in sums) / len(sums)


def pairs(ratio: float, noise: float, count: int, seed: int) -> Verdict:
    chance = random.Random(seed)
    base = [20 * math.exp(chance.gauss(0, noise)) for _ in range(count)]
    return Verdict.of(base, [20 * ratio * math.exp(chance.gauss(0, noise)) for _ in range(count)])


class SignedRank(unittest.TestCase):

    def test_the_critical_values_are_those_of_the_tables(self):
        # one-sided, 1 %
        self.assertEqual([signed_rank.most_left_out(n, 0.01) for n in (7, 8, 9, 10, 11, 12, 15, 20, 25)],
                         [0, 1, 3, 5, 7, 9, 19, 43, 76])

    def test_seven_pairs_are_the_fewest_that_can_be_significant(self):
        self.assertEqual(FEWEST_PAIRS, 7)
        self.assertLessEqual(signed_rank.p_greater([1, 2, 3, 4, 5, 6, 7]), LEVEL)
        self.assertGreater(signed_rank.p_greater([1, 2, 3, 4, 5, 6]), LEVEL)

    def test_p_is_the_share_of_all_signs_with_ranks_as_high(self):
        chance = random.Random(1)
        for _ in range(50):
            values = [chance.gauss(0.3, 1) for _ in range(chance.randint(1, 9))]
            self.assertAlmostEqual(signed_rank.p_greater(values), by_hand(values))

    def test_equal_sizes_share_their_ranks(self):
        self.assertEqual(signed_rank.doubled_ranks([3, 1, 3, 2]), [7, 2, 7, 4])
        self.assertEqual(signed_rank.p_greater([1, 1, -1]), 0.5)

    def test_zeros_speak_for_neither_side(self):
        self.assertEqual(signed_rank.p_greater([0, 0, 0]), 1)
        self.assertEqual(signed_rank.p_greater([0, 2, 3]), 0.25)

    def test_the_interval_leaves_out_zero_exactly_when_the_test_is_significant(self):
        chance = random.Random(2)
        for _ in range(300):
            values = [chance.gauss(0.7, 1) for _ in range(chance.randint(FEWEST_PAIRS, 14))]
            self.assertEqual(Centre.of(values, LEVEL).low > 0, signed_rank.p_greater(values) <= LEVEL)

    def test_the_estimate_doesnt_follow_an_outlier(self):
        self.assertAlmostEqual(Centre.of([1, 2, 3, 4, 5, 6, 700], 0.01).middle, 4, delta=0.51)


class Rule(unittest.TestCase):

    def fails(self, ratio: float, noise: float = 0.015) -> float:
        """The share of guards that fail."""
        return sum(pairs(ratio, noise, 12, seed).fails for seed in range(500)) / 500

    def test_equal_builds_pass(self):
        self.assertEqual(self.fails(1.0), 0)
        self.assertLessEqual(self.fails(1.0, noise=0.08), 0.02)

    def test_a_difference_that_is_real_but_small_passes(self):
        self.assertEqual(self.fails(1.02), 0)
        self.assertLessEqual(pairs(1.02, 0.001, 12, 1).p, LEVEL)

    def test_a_regression_of_8_percent_fails(self):
        self.assertGreaterEqual(self.fails(1.08), 0.98)

    def test_a_faster_tree_passes(self):
        self.assertEqual(self.fails(0.9), 0)

    def test_noise_that_could_hide_a_regression_is_told(self):
        self.assertTrue(Verdict.of([10.0] * 8, [9.0, 11.0] * 4).may_hide_a_regression)
        self.assertFalse(Verdict.of([10.0] * 8, [9.9, 10.1] * 4).may_hide_a_regression)

    def test_the_last_line_can_be_read_by_a_program(self):
        line = Verdict.of([10.0] * 7, [11.0, 11.1, 11.2, 10.9, 11.0, 10.8, 11.3]).line("small")
        self.assertRegex(line, r"^GUARD small 1\.10\d \[1\.080\.\.1\.130\] p=0\.0078 fail$")


if __name__ == "__main__":
    unittest.main()
