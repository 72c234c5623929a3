"""Finds the peers, starts them with their replicas and asks them whether they do what is compared.

A peer is a folder bench/peers/NAME with a `peer.py` that defines

    TITLE          what it is, for tables
    DOES           which of the gateway's work it does, for the page
    JIT            True when it needs a long warm-up (optional)
    PATH           what to get from it when it serves no inference (optional)
    missing(o)     why it can't run here, or None; `o` are the options
    version(o)     its version as text
    start(place)   writes its configuration into place.folder and returns the command (and, optionally, the environment)

Settings of a variant ("gateway:label") stand in place.settings; each peer knows its own. The harness reads two of any
variant: `cores`, where it runs if not on the proxy's core, and `cgroup`, a folder of cgroup.procs files to start it in.

A peer without `start` has no process: requests go to the replica itself.
"""

import copy
import http.client
import importlib.util
import itertools
import json
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from harness import machine, native
from harness.options import BENCH, Complaint, Options
from harness.processes import Processes, Running, free_ports

READY_SECONDS = 60


@dataclass(frozen=True)
class Place:
    """What a peer gets to run with."""

    folder: Path
    port: int
    management_port: int
    replicas: tuple[int, int]
    open_files: int
    options: Options
    settings: dict[str, Any] = field(default_factory=dict)

    def fill(self, template: Path, target: str, **values: object) -> Path:
        """Writes a configuration: each @NAME@ of the template becomes the value."""
        content = template.read_text()
        known = {"port": self.port, "folder": self.folder, "replica_a": self.replicas[0], "replica_b": self.replicas[1],
                 "open_files": self.open_files, **values}
        for name, value in known.items():
            content = content.replace(f"@{name.upper()}@", str(value))
        path = self.folder / target
        path.write_text(content)
        return path


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"peer_{name.replace('-', '_')}", BENCH / "peers" / name / "peer.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Peer:
    """A kind of proxy, not yet running."""

    def __init__(self, name: str, options: Options):
        module = load(name)
        self.name = name
        self.title: str = module.TITLE
        self.does: str = module.DOES
        self.jit: bool = getattr(module, "JIT", False)
        self.path: str | None = getattr(module, "PATH", None)
        self.proxies: bool = hasattr(module, "start")
        self.settings: dict[str, Any] = {}
        self.missing: str | None = module.missing(options)
        self.version: str = "" if self.missing else module.version(options)
        self.module = module

    def variant(self, label: str, **settings: Any) -> "Peer":
        """The same peer with other settings, beside it in the tables as "name:label"."""
        other = copy.copy(self)
        other.name = f"{self.name}:{label}"
        other.settings = {**self.settings, **settings}
        return other

    @property
    def is_variant(self) -> bool:
        return ":" in self.name


@dataclass
class Proxy:
    """A running peer with two replicas of its own, so that its upstream connections can be counted."""

    peer: Peer
    port: int
    replica_port: int
    replica: Running
    process: Running | None
    start_seconds: float = 0.0
    pids: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.peer.name

    def cpu_micros(self) -> tuple[float, float]:
        return machine.cpu_micros(self.pids)

    def rss_kib(self) -> int:
        return machine.rss_kib(self.pids)

    def forget_peak(self) -> None:
        machine.forget_peak(self.pids)

    def peak_rss_kib(self) -> int:
        """The most that was resident since the peak was forgotten."""
        return machine.peak_rss_kib(self.pids)

    def flags(self) -> str:
        """The options that its Java got, without places of this machine; empty for others."""
        for pid in self.pids:
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            if Path(words[0]).name == "java":
                options = itertools.takewhile(lambda word: word not in ("-cp", "-jar"), words[1:])
                return " ".join(o for o in options if "=/" not in o and "=file:/" not in o)
        return ""

    def check_alive(self) -> None:
        self.replica.check()
        if self.process is not None:
            self.process.check()

    def set_replica(self, **settings: int) -> dict[str, int]:
        """Changes the replica's pace and returns its counters."""
        query = "&".join(f"{name}={value}" for name, value in settings.items())
        with urllib.request.urlopen(f"http://127.0.0.1:{self.replica_port}/bench/set?{query}", timeout=5) as answer:
            return json.load(answer)


def get(port: int, path: str, timeout: float = 5) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def post(port: int, body: bytes, timeout: float = 5) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", "/v1/chat/completions", body,
                           {"Authorization": f"Bearer {native.KEY}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def wait_for_first_200(port: int, body: bytes, process: Running, path: str | None = None) -> float:
    """Posts the body, or gets the path, every 2 ms until the answer is a 200; returns the moment, on the monotonic clock."""
    deadline = time.monotonic() + READY_SECONDS
    last = "no connection"
    while time.monotonic() < deadline:
        process.check()
        try:
            status, content = post(port, body) if path is None else get(port, path)
            if status == 200:
                return time.monotonic()
            last = f"{status} {content[:200]!r}"
        except (OSError, http.client.HTTPException) as e:
            last = repr(e)
        time.sleep(0.002)
    raise Complaint(f"{process.name}: no 200 within {READY_SECONDS} s; last: {last}\n{process.log.read_text()[-2000:]}")


def deploy(peer: Peer, folder: Path, processes: Processes, options: Options, bodies: dict[str, Path]) -> Proxy:
    """Starts replicas and proxy and waits for the first answer."""
    folder.mkdir(parents=True, exist_ok=True)
    port, management_port, a, b = free_ports(4)
    command = [str(native.TARGET / "replica"), "--ports", f"{a},{b}", *(["--always-usage"] if options.always_usage else [])]
    replica = processes.start(f"replica of {peer.name}", command, options.load_cores, folder / "replica.log")
    small = bodies["small"].read_bytes()
    wait_for_first_200(a, small, replica)
    if not peer.proxies:
        return Proxy(peer, a, a, replica, None)
    place = Place(folder, port, management_port, (a, b), machine.raise_file_limit(), options, peer.settings)
    started = peer.module.start(place)
    arguments, env = started if isinstance(started, tuple) else (started, {})
    begin = time.monotonic()
    process = processes.start(peer.name, [*into_cgroup(peer), *map(str, arguments)], peer.settings.get("cores", options.proxy_cores),
                              folder / "output.log", env)
    ready = wait_for_first_200(port, small, process, peer.path)
    return Proxy(peer, port, a, replica, process, ready - begin, machine.members(process.group))


def into_cgroup(peer: Peer) -> list[str]:
    """Words before a command that put the process, and all that it starts, into the peer's control group."""
    if "cgroup" not in peer.settings:
        return []
    return ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(peer.settings["cgroup"] / "cgroup.procs")]


def withdraw(proxy: Proxy, processes: Processes) -> None:
    for process in (proxy.process, proxy.replica):
        if process is not None:
            processes.stop(process)


def check_work(proxy: Proxy, bodies: dict[str, Path], always_usage: bool) -> str:
    """One streamed request: says whether usage was asked for upstream and whether the client saw its event."""
    before = proxy.set_replica()["usage_events"]
    status, content = post(proxy.port, bodies["prompt100k"].read_bytes())
    after = proxy.set_replica()["usage_events"]
    events = content.count(b"\n\n")
    seen = b'"usage":{' in content
    if status != 200 or not content.endswith(b"data: [DONE]\n\n") or events != 4 + seen:
        raise Complaint(f"{proxy.name}: a streamed answer isn't whole: {status} {content[-300:]!r}")
    asked = not always_usage and after > before
    return ("asks for usage" if asked else "doesn't ask for usage") + (", its client sees the event" if seen else
                                                                        ", cuts it out" if after > before else "")
