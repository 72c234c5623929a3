"""What the kernel says about processes and the machine: CPU time, resident memory, versions."""

import os
import platform
import re
import resource
from pathlib import Path

TICK_MICROS = 1e6 / os.sysconf("SC_CLK_TCK")


def members(group: int) -> list[int]:
    """The processes of a process group: a launcher script and what it started."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = stat_fields(int(entry))
            if fields is not None and int(fields[2]) == group:
                found.append(int(entry))
    return found


def stat_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the command's name; None when the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text[text.rindex(")") + 2:].split()


def cpu_micros(pids: list[int]) -> tuple[float, float]:
    """User and system time of all threads so far, in µs; the kernel counts in ticks of 10 ms."""
    user = system = 0.0
    for pid in pids:
        fields = stat_fields(pid)
        if fields is not None:
            user += int(fields[11]) * TICK_MICROS
            system += int(fields[12]) * TICK_MICROS
    return user, system


def cores(taskset_list: str) -> list[int]:
    """Reads taskset's notation: 0, 0,2 or 1-3."""
    found = []
    for part in taskset_list.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def core_micros(numbers: list[int]) -> float:
    """Time so far that the cores spent on any process or lost to the hypervisor, in µs; interrupts are left out."""
    total = 0.0
    for line in Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name[:3] == "cpu" and name[3:].isdigit() and int(name[3:]) in numbers:
            user, nice, system, steal = (int(ticks[i]) for i in (0, 1, 2, 7))
            total += (user + nice + system + steal) * TICK_MICROS
    return total


def rss_kib(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        try:
            found = re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)
        except OSError:
            continue
        total += int(found.group(1)) if found else 0
    return total


def peak_rss_kib(pids: list[int]) -> int:
    """The most that was resident since `forget_peak`."""
    total = 0
    for pid in pids:
        found = re.search(r"^VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M)
        total += int(found.group(1)) if found else 0
    return total


def forget_peak(pids: list[int]) -> None:
    for pid in pids:
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def run_micros(pids: list[int]) -> float:
    """Time that all living threads have run so far, in µs, finer than the kernel's ticks."""
    total = 0
    for pid in pids:
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                total += int(file.read_text().split()[0])
            except OSError:
                continue
    return total / 1e3


def raise_file_limit() -> int:
    """Allows this process and those that it starts as many open files as the system permits; returns that number."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(hard, 1 << 20) if hard != resource.RLIM_INFINITY else 1 << 20


def description() -> str:
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    virtual = " (virtual machine)" if "hypervisor" in Path("/proc/cpuinfo").read_text() else ""
    kernel = re.match(r"\d+\.\d+", platform.release())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (f"{os.cpu_count()} x {model.group(1) if model else platform.machine()}{virtual}, {memory:.0f} GiB, "
            f"Linux {kernel.group(0) if kernel else '?'}")
