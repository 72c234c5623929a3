"""A run: deploys the proxies of a scenario, warms them up and measures them in turn."""

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness import machine, native, peers
from harness.options import TARGET, Complaint, Options
from harness.peers import Peer, Proxy
from harness.processes import Processes
from harness.results import Results, Sample

STILL_IMPROVING = 0.97
"""Warm-up ends when the last two slices together cost no less than this part of the two before."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass
class CpuWindow:
    """CPU time of a proxy between two moments, in µs, and what else took its core's time meanwhile."""

    proxy: Proxy
    cores: list[int]
    user: float = 0.0
    system: float = 0.0
    others: float = 0.0
    elapsed: float = 0.0
    upstream_connections: int = 0
    _begin: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    def _now(self) -> tuple[float, float, float, float]:
        return *self.proxy.cpu_micros(), machine.core_micros(self.cores), time.monotonic() * 1e6

    def begin(self) -> None:
        self._begin = self._now()

    def end(self) -> None:
        self.user, self.system, all_processes, self.elapsed = (now - then for now, then in zip(self._now(), self._begin))
        self.others = max(0.0, all_processes - self.total)

    @property
    def total(self) -> float:
        return self.user + self.system

    def shares(self) -> dict[str, float]:
        """How busy the proxy kept its core, and how busy others kept it, in per cent."""
        return {"busy": 100 * self.total / self.elapsed, "others": 100 * self.others / self.elapsed}


@dataclass
class Run:
    """What a scenario has at hand."""

    options: Options
    processes: Processes
    candidate: Peer
    others: list[Peer]
    bodies: dict[str, Path]
    results: Results = field(default_factory=Results)
    notes: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)

    @property
    def proxying(self) -> list[Peer]:
        """The peers that have a process of their own, without the candidate."""
        return [p for p in self.others if p.proxies]

    def among(self, *names: str) -> list[Peer]:
        """Those of the named peers that are in this run, and the candidate's variants."""
        return [p for p in self.proxying if p.name in names or p.is_variant]

    @property
    def candidates(self) -> list[Peer]:
        """The candidate and its variants."""
        return [self.candidate, *(p for p in self.others if p.is_variant)]

    def rounds(self, most: int) -> int:
        return min(most, self.options.rounds)

    def record(self, scenario: str, proxy: Proxy, round_: int, order: int, **values: float) -> None:
        for metric, value in values.items():
            self.results.add(Sample(scenario, metric, proxy.name, round_, order, value))
        shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
        say(f"  {scenario:12s} round {round_ + 1}  {proxy.name:12s} {shown}")

    @contextlib.contextmanager
    def deployed(self, *chosen: Peer) -> Iterator[list[Proxy]]:
        """Runs the peers for the length of a `with` block; their files are deleted after it."""
        folder = TARGET / "run"
        shutil.rmtree(folder, ignore_errors=True)
        proxies: list[Proxy] = []
        try:
            for peer in chosen:
                proxy = peers.deploy(peer, folder / peer.name.replace(":", "-"), self.processes, self.options, self.bodies)
                proxies.append(proxy)
                if flags := proxy.flags():
                    self.flags[peer.name] = flags
                if peer.path is None and not peer.is_variant and peer.name not in self.notes:
                    self.notes[peer.name] = peers.check_work(proxy, self.bodies, self.options.always_usage)
                    say(f"  {peer.name}: {self.notes[peer.name]}")
            yield proxies
            for proxy in proxies:
                proxy.check_alive()
        finally:
            for proxy in proxies:
                peers.withdraw(proxy, self.processes)
            shutil.rmtree(folder, ignore_errors=True)

    def turns(self, candidate: Proxy, others: list[Proxy], rounds: int) -> Iterator[tuple[int, int, Proxy]]:
        """Peer A, candidate, peer B, candidate … of each round; with no peers the candidate alone."""
        for round_ in range(rounds):
            sequence = [p for other in others for p in (other, candidate)] or [candidate]
            for order, proxy in enumerate(sequence):
                yield round_, order, proxy

    def window(self, proxy: Proxy) -> CpuWindow:
        return CpuWindow(proxy, machine.cores(self.options.proxy_cores))

    def load_slice(self, proxy: Proxy, body: str, seconds: float, connections: int | None = None,
                   at_begin: Callable[[], None] | None = None,
                   at_end: Callable[[], None] | None = None) -> tuple[dict[str, float], CpuWindow]:
        """One measurement under closed-loop load; `body` is a name among the bodies or a path to get.

        With callbacks of its own the caller does without the CPU window.
        """
        window = self.window(proxy)
        result = native.run_load(proxy.port, self.bodies.get(body, body), connections or self.options.connections, seconds,
                                 self.options.load_cores, at_begin or window.begin, at_end or window.end)
        proxy.check_alive()
        if result["requests"] < 1:
            raise Complaint(f"{proxy.name}: no request within {seconds} s")
        window.upstream_connections = proxy.set_replica()["open"] - 1
        return result, window

    def warm_up_load(self, proxy: Proxy, body: str, connections: int | None = None) -> None:
        """Closed-loop load until a request costs no less any more."""

        def cost(seconds: float) -> float:
            result, window = self.load_slice(proxy, body, seconds, connections)
            return window.total / result["requests"]

        self.warm_up(proxy, cost)

    def warm_up(self, proxy: Proxy, cost: Callable[[float], float]) -> None:
        """Repeats `cost(seconds)` (µs of CPU for each request or event) until it falls no more; one slice without a JIT."""
        seconds = 1.5 if self.options.quick else 3.0
        limit = self.options.warm_up
        begin = time.monotonic()
        costs = [cost(seconds if proxy.peer.jit else seconds / 2)]
        if not proxy.peer.jit:
            return
        while time.monotonic() - begin < limit:
            costs.append(cost(seconds))
            if len(costs) >= 4 and sum(costs[-2:]) >= STILL_IMPROVING * sum(costs[-4:-2]):
                break
        else:
            say(f"  {proxy.name}: still improving after {limit:.0f} s of warm-up")
        say(f"  {proxy.name} warm: {' '.join(f'{c:.1f}' for c in costs)} µs")
