"""One measurement on a machine at a time, whichever checkout it is started from."""

import socket

from harness.options import Complaint


def refuse_a_second_run() -> socket.socket:
    """Two runs at once would measure each other; returns the lock, a name that the kernel frees when this process ends."""
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind("\0dromedary-bench")
    except OSError:
        raise Complaint("another run is measuring on this machine") from None
    return lock
