"""What a process asks of the kernel and of its heap, seen from outside."""

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from harness.options import Options
from harness.processes import die_with_parent

KINDS = {
    "reads": {"read", "readv", "recvfrom", "recvmsg", "pread64"},
    "writes": {"write", "writev", "sendto", "sendmsg", "sendfile", "pwrite64"},
    "waits": {"epoll_wait", "epoll_pwait", "epoll_pwait2", "epoll_ctl", "poll", "ppoll"},
    "locks": {"futex"},
}
UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def strace_missing() -> str | None:
    return None if shutil.which("strace") else "strace is not installed"


class CallCount:
    """strace over a proxy: `start` returns when it is attached, `stop` gives calls by name."""

    def __init__(self, pids: list[int], cores: str, out: Path):
        self.out = out
        self.command = ["taskset", "-c", cores, "strace", "-c", "-f", "-o", str(out), *(w for pid in pids for w in ("-p", str(pid)))]

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        assert self.process.stderr is not None
        self.process.stderr.readline()
        time.sleep(0.3)

    def stop(self) -> dict[str, int]:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        return count(self.out.read_text())


def count(summary: str) -> dict[str, int]:
    """Reads strace's table: the calls stand fourth, the name last."""
    calls = {}
    for line in summary.splitlines():
        words = line.split()
        if len(words) >= 5 and words[0][0].isdigit() and words[-1] != "total":
            calls[words[-1]] = int(words[3])
    return calls


def by_kind(calls: dict[str, int]) -> dict[str, int]:
    kinds = {kind: sum(n for name, n in calls.items() if name in names) for kind, names in KINDS.items()}
    return {"calls": sum(calls.values()), **kinds}


def jcmd(options: Options) -> str | None:
    """The command of the gateway's JDK, or of the path."""
    of_jdk = options.java / "bin" / "jcmd" if options.java else None
    return str(of_jdk) if of_jdk is not None and of_jdk.exists() else shutil.which("jcmd")


def allocated_bytes(command: str, pid: int) -> int | None:
    """What all living Java threads have allocated so far; None when the process doesn't answer jcmd."""
    done = subprocess.run([command, str(pid), "Thread.print", "-e"], capture_output=True, text=True)
    found = re.findall(r" allocated=(\d+)([BKMG]) ", done.stdout)
    return sum(int(number) * UNITS[unit] for number, unit in found) if found else None
