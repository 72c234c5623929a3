"""Builds and runs the native programs: replica, load and streams."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.options import BENCH, TARGET, Complaint
from harness.processes import die_with_parent

SOURCES = BENCH / "native"
KEY = "sk-bench-0123456789abcdef0123456789abcdef"


def build() -> None:
    """Compiles what is older than its sources."""
    if shutil.which("gcc") is None:
        raise Complaint("gcc is missing; bench/run --install installs it")
    TARGET.mkdir(exist_ok=True)
    newest_header = max(h.stat().st_mtime for h in SOURCES.glob("*.h"))
    for source in SOURCES.glob("*.c"):
        program = TARGET / source.stem
        if program.exists() and program.stat().st_mtime > max(newest_header, source.stat().st_mtime):
            continue
        subprocess.run(["gcc", "-O2", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True)


def fields(line: str) -> dict[str, float]:
    return {name: float(value) for name, value in (part.split("=") for part in line.split()[1:])}


def lines(program: str, cores: str, *arguments: object) -> Iterator[str]:
    """Runs a load program and yields its lines as they appear; its failure is the run's failure."""
    command = ["taskset", "-c", cores, str(TARGET / program), "--key", KEY, *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
    try:
        assert child.stdout is not None and child.stderr is not None
        for line in child.stdout:
            yield line.rstrip("\n")
        complaint = child.stderr.read()
        if child.wait() != 0:
            raise Complaint(f"{program} {' '.join(map(str, arguments))}: {complaint.strip()}")
    finally:
        if child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()


def run_load(port: int, ask: Path | str, connections: int, seconds: float, cores: str,
             at_begin: Callable[[], None] = lambda: None, at_end: Callable[[], None] = lambda: None) -> dict[str, float]:
    """Loads a proxy and returns requests, events, seconds and the answers' times; calls back at both ends of the window.

    `ask` is the file of a body to post, or a path to get.
    """
    what = ("--get", ask) if isinstance(ask, str) else ("--body", ask)
    result: dict[str, float] = {}
    for line in lines("load", cores, "--port", port, *what, "--connections", connections, "--millis", int(seconds * 1000)):
        if line == "begin":
            at_begin()
        elif line.startswith("end "):
            at_end()
            result.update(fields(line))
        elif line.startswith("times "):
            result.update(fields(line))
    return result


def run_burst(port: int, body: Path, connections: int, cores: str) -> dict[str, float]:
    """Sends one request on each connection, all at once, and returns when all are answered."""
    result: dict[str, float] = {}
    for line in lines("load", cores, "--port", port, "--body", body, "--connections", connections, "--once"):
        result.update(fields(line))
    return result


def run_streams(port: int, body: Path, streams: int, rate: int, settle_ms: int, interval_ms: int, seconds: float, cores: str,
                at_open: Callable[[], None], at_begin: Callable[[], None], at_end: Callable[[], None]) -> dict[str, float]:
    """Opens streams, calls back when all are open and at both ends of the window, and returns what arrived within it."""
    result: dict[str, float] = {}
    for line in lines("streams", cores, "--port", port, "--body", body, "--streams", streams, "--rate", rate,
                      "--settle", settle_ms, "--interval", interval_ms, "--millis", int(seconds * 1000)):
        if line == "open":
            at_open()
        elif line == "begin":
            at_begin()
        elif line.startswith("end "):
            at_end()
            result = fields(line)
    return result
