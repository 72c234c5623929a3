"""A CPU quota for a process by control groups, version 2 or 1, where this user may set one."""

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.options import Complaint

PERIOD_MICROS = 100_000


@dataclass(frozen=True)
class Group:
    folder: Path

    def throttled(self) -> dict[str, int]:
        """Periods so far, those of them that ended with the quota used up, and the time that was lost so, in µs."""
        stat = dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        lost = int(stat["throttled_usec"]) if "throttled_usec" in stat else int(stat["throttled_time"]) // 1000
        return {"periods": int(stat["nr_periods"]), "throttled": int(stat["nr_throttled"]), "lost": lost}


def parent() -> tuple[Path, bool]:
    """Where a group with a quota can be made, and whether that is version 2."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup" and "cpu" in options.split(","):
            return Path(place), False
        if kind == "cgroup2" and "cpu" in (Path(place) / "cgroup.subtree_control").read_text().split():
            return Path(place), True
    raise Complaint("no control group with a cpu controller")


@contextlib.contextmanager
def group(name: str, cores: float) -> Iterator[Group]:
    """A group for the length of a `with` block; a Complaint when the system doesn't let us."""
    root, second = parent()
    folder = root / f"dromedary-bench-{os.getpid()}-{re.sub('[^a-z0-9]', '-', name)}"
    quota = round(cores * PERIOD_MICROS)
    try:
        folder.mkdir()
    except OSError as e:
        raise Complaint(f"can't make a control group: {e.strerror}") from None
    try:
        if second:
            (folder / "cpu.max").write_text(f"{quota} {PERIOD_MICROS}")
        else:
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_MICROS))
            (folder / "cpu.cfs_quota_us").write_text(str(quota))
        yield Group(folder)
    except PermissionError as e:
        raise Complaint(f"can't set a quota: {e.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()
