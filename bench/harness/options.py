"""The command line of bench/run."""

import argparse
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
PROJECT = BENCH.parent
TARGET = BENCH / "target"
CANDIDATE = "dromedary"
SCENARIOS = ["small", "prompt100k", "streams", "concurrency", "latency", "idle", "start", "internals", "routes", "nonai", "quota", "burst"]
PEERS = ["direct", "nginx", "nginx-lua", "haproxy", "spring-cloud-gateway"]


class Complaint(Exception):
    """Something the user must mend; shown without a stack trace."""


@dataclass(frozen=True)
class Options:
    quick: bool
    scenarios: list[str]
    peers: list[str]
    candidate: str
    rounds: int
    seconds: float
    connections: int
    streams: list[int]
    proxy_cores: str
    load_cores: str
    gateway: Path
    java: Path | None
    out: Path
    always_usage: bool
    warm_up: float
    quota: float | None
    variants: dict[str, dict[str, str]]
    """Labels of further gateways, each with the environment that makes it different."""


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def variant(text: str) -> tuple[str, dict[str, str]]:
    label, colon, setting = text.partition(":")
    name, equals, value = setting.partition("=")
    if not (label and colon and name and equals):
        raise argparse.ArgumentTypeError(f"{text} (expected: LABEL:NAME=VALUE)")
    return label, {name: value}


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures the gateway beside other proxies on this machine. See bench/README.md.",
    )
    p.add_argument("--quick", action="store_true",
                   help="small, prompt100k and 1,000 streams against nginx and nginx-lua within three minutes")
    p.add_argument("--scenarios", type=names, metavar="LIST", help=f"of {','.join(SCENARIOS)} (default: all)")
    p.add_argument("--peers", type=names, metavar="LIST", help=f"of {','.join(PEERS)} (default: all)")
    p.add_argument("--candidate", default=CANDIDATE, metavar="PEER", help=f"what is compared with the peers (default: {CANDIDATE})")
    p.add_argument("--rounds", type=int, metavar="N", help="rounds of a scenario at most (default: 5, quick: 3)")
    p.add_argument("--seconds", type=float, metavar="S", help="length of one measurement (default: 3, quick: 1.5)")
    p.add_argument("--connections", type=int, default=64, metavar="N", help="client connections under load (default: 64)")
    p.add_argument("--streams", type=lambda text: [int(n) for n in names(text)], metavar="LIST",
                   help="streams open at once (default: 1000,2000,9000; quick: 1000)")
    p.add_argument("--warm-up", type=float, metavar="S", help="longest warm-up of a proxy (default: 30, quick: 16)")
    p.add_argument("--quota", type=float, metavar="CORES",
                   help="CPU quota of the scenario quota (default: 1.5; 0.75 with fewer than four cores)")
    p.add_argument("--cores", default="0:1", metavar="P:L",
                   help="cores of the proxy and of load and replicas, as taskset writes them (default: 0:1)")
    p.add_argument("--gateway", type=Path, default=PROJECT / "target" / "dromedary", metavar="HOME",
                   help="the unpacked gateway (default: target/dromedary)")
    p.add_argument("--java", type=Path, metavar="JDK", help="JDK that runs the gateway (default: JAVA_HOME)")
    p.add_argument("--out", type=Path, metavar="DIR",
                   help="where benchmarks.md and benchmarks/ go (default: docs for a full run of the gateway, else bench/target/report)")
    p.add_argument("--variant", action="append", default=[], metavar="LABEL:NAME=VALUE", type=variant,
                   help="measure the gateway too with an environment variable set, for example "
                        "trim:DROMEDARY_JAVA_OPTS=-XX:TrimNativeHeapInterval=5000")
    p.add_argument("--always-usage", action="store_true",
                   help="replicas send the usage event to all, so that every proxy carries the same events")
    p.add_argument("--report", action="store_true", help="only write the page and charts again from the data in --out")
    p.add_argument("--install", action="store_true", help="install the peers and tools with apt-get, then stop")
    return p


def read(arguments: list[str] | None = None) -> tuple[Options, argparse.Namespace]:
    given = parser().parse_args(arguments)
    quick = given.quick
    scenarios = given.scenarios or (["small", "prompt100k", "streams"] if quick else SCENARIOS)
    peers = given.peers if given.peers is not None else (["nginx", "nginx-lua"] if quick else PEERS)
    for name in scenarios:
        if not (BENCH / "scenarios" / f"{name}.py").is_file():
            raise Complaint(f"no scenario {name!r} (expected: one of {', '.join(SCENARIOS)})")
    for name in [*peers, given.candidate]:
        if not (BENCH / "peers" / name / "peer.py").is_file():
            raise Complaint(f"no peer {name!r} (expected: a folder of bench/peers)")
    proxy_cores, colon, load_cores = given.cores.partition(":")
    if not (proxy_cores and colon and load_cores):
        raise Complaint(f"--cores {given.cores} (expected: PROXY:LOAD, for example 0:1)")
    rounds = given.rounds or (3 if quick else 5)
    seconds = given.seconds or (1.5 if quick else 3.0)
    if rounds < 1 or not 0.1 <= seconds <= 600:
        raise Complaint("--rounds must be at least 1 and --seconds 0.1 to 600")
    streams = given.streams or ([1000] if quick else [1000, 2000, 9000])
    if not 1 <= given.connections <= 4096 or not all(1 <= n <= 30000 for n in streams):
        raise Complaint("--connections must be 1 to 4096 and --streams 1 to 30000")
    full = not quick and given.candidate == CANDIDATE and scenarios == SCENARIOS and not given.variant
    out = given.out or (PROJECT / "docs" if full or given.report else TARGET / "report")
    options = Options(quick, scenarios, [p for p in peers if p != given.candidate], given.candidate, rounds, seconds,
                      given.connections, streams, proxy_cores, load_cores, given.gateway.resolve(), given.java,
                      out.resolve(), given.always_usage, given.warm_up or (16.0 if quick else 30.0), given.quota, dict(given.variant))
    return options, given
