"""HAProxy as a plain reverse proxy: the second floor. It passes prompts through and never holds a whole one."""

import re
import shutil
import subprocess

from harness.options import BENCH

TITLE = "HAProxy, bare"
DOES = "relays; doesn't hold the prompt, so that it could not route by it nor retry"


def missing(options):
    return None if shutil.which("haproxy") else "haproxy is not installed"


def version(options):
    return re.search(r"version (\d+\.\d+\.\d+)", subprocess.run(["haproxy", "-v"], capture_output=True, text=True).stdout).group(1)


def start(place):
    config = place.fill(BENCH / "peers/haproxy/haproxy.cfg", "haproxy.cfg", connections=place.open_files // 2 - 300)
    return ["haproxy", "-db", "-f", config]
