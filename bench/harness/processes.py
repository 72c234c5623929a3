"""Starts the processes of a run, each in a group of its own and on its cores, and stops them all whatever happens."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from harness.options import Complaint

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent() -> None:
    """In the child: be killed when the harness dies without a chance to stop what it started."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, below those that the kernel gives to outgoing connections."""
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found: list[int] = []
    start = 10240 + os.getpid() % 1000
    for port in range(start, low):
        if len(found) == count:
            break
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                if port not in given_out:
                    found.append(port)
    if len(found) < count:
        raise Complaint("no free ports")
    given_out.update(found)
    return found


given_out: set[int] = set()


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class Running:
    """One started process and its group."""

    def __init__(self, name: str, popen: subprocess.Popen, log: Path):
        self.name = name
        self.popen = popen
        self.log = log

    @property
    def group(self) -> int:
        return self.popen.pid

    def check(self) -> None:
        if self.popen.poll() is not None:
            tail = self.log.read_text(errors="replace")[-2000:]
            raise Complaint(f"{self.name} ended with status {self.popen.returncode}:\n{tail}")

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGTERM)
        deadline = time.monotonic() + 5
        while self.popen.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGKILL)
        self.popen.wait()


class Processes:
    """All that a run has started. Leaving the `with` block stops it."""

    def __init__(self) -> None:
        self.running: list[Running] = []

    def __enter__(self) -> "Processes":
        signal.signal(signal.SIGTERM, interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.stop_all()
        finally:
            signal.signal(signal.SIGINT, previous)

    def start(self, name: str, command: list[str], cores: str, log: Path, env: dict[str, str] | None = None) -> Running:
        with log.open("wb") as out:
            popen = subprocess.Popen(["taskset", "-c", cores, *command], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=die_with_parent,
                                     env={**os.environ, **(env or {})}, cwd=log.parent)
        started = Running(name, popen, log)
        self.running.append(started)
        return started

    def stop(self, process: Running) -> None:
        process.stop()
        self.running.remove(process)

    def stop_all(self) -> None:
        while self.running:
            self.stop(self.running[-1])
