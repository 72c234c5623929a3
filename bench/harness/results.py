"""Samples, their statistics, and their files."""

import csv
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

WIDE_SPREAD = 0.30
"""A peer whose (max - min) / median is wider than this is flagged: its median says little."""


@dataclass(frozen=True)
class Metric:
    """One thing that a scenario measures of each proxy; less is better wherever `ratio` is set.

    A `detail` is shown in the terminal and kept in the data, but left out of the page. What has a ratio, a chart or is a
    `value` appears in the lines for programs.
    """

    name: str
    unit: str
    title: str
    ratio: bool = False
    chart: bool = False
    digits: int = 1
    detail: bool = False
    value: bool = False


CORE_SHARES = [
    Metric("busy", "%", "of its core's time taken by the proxy", digits=0, detail=True),
    Metric("others", "%", "taken by other processes", digits=0, detail=True),
]


@dataclass(frozen=True)
class Sample:
    """One measured value. `order` counts the measurements of a round: a peer's partner is the candidate right after it."""

    scenario: str
    metric: str
    peer: str
    round: int
    order: int
    value: float


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float
    count: int

    @staticmethod
    def of(values: list[float]) -> "Spread":
        return Spread(statistics.median(values), min(values), max(values), len(values))

    @property
    def wide(self) -> bool:
        return self.median > 0 and self.count > 1 and (self.high - self.low) / self.median > WIDE_SPREAD


class Results:
    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self.samples = list(samples)

    def add(self, sample: Sample) -> None:
        self.samples.append(sample)

    def scenarios(self) -> list[str]:
        return list(dict.fromkeys(s.scenario for s in self.samples))

    def of(self, scenario: str, metric: str) -> dict[str, list[Sample]]:
        """The samples of each peer, peers in the order in which they were first measured."""
        found: dict[str, list[Sample]] = {}
        for s in self.samples:
            if s.scenario == scenario and s.metric == metric:
                found.setdefault(s.peer, []).append(s)
        return found

    def spread(self, scenario: str, metric: str, peer: str) -> Spread | None:
        samples = self.of(scenario, metric).get(peer)
        return Spread.of([s.value for s in samples]) if samples else None

    def ratio(self, scenario: str, metric: str, candidate: str, peer: str) -> Spread | None:
        """The candidate's value divided by the peer's, pair by pair within each round; of the candidate's variants, theirs by its own."""
        variant = peer.startswith(candidate + ":")
        by_peer = self.of(scenario, metric)
        partners = by_peer.get(candidate, [])
        ratios = []
        for sample in by_peer.get(peer, []):
            same_round = [p for p in partners if p.round == sample.round]
            partner = next((p for p in same_round if p.order == sample.order + 1), same_round[0] if same_round else None)
            if partner is not None:
                above, below = (sample.value, partner.value) if variant else (partner.value, sample.value)
                ratios += [above / below] if below > 0 else []
        return Spread.of(ratios) if ratios else None

    def write(self, path: Path) -> None:
        with path.open("w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow([f.name for f in fields(Sample)])
            for s in self.samples:
                out.writerow([s.scenario, s.metric, s.peer, s.round, s.order, f"{s.value:.4g}" if abs(s.value) < 1000 else f"{s.value:.0f}"])


def read_samples(path: Path) -> Results:
    with path.open(newline="") as file:
        return Results(Sample(r["scenario"], r["metric"], r["peer"], int(r["round"]), int(r["order"]), float(r["value"]))
                       for r in csv.DictReader(file))
