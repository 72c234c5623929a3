"""nginx as a plain reverse proxy: the floor."""

import re
import shutil
import subprocess

from harness.options import BENCH

TITLE = "nginx, bare"
DOES = "relays; no keys, limits, routing by model, usage or log"


def missing(options):
    return None if shutil.which("nginx") else "nginx is not installed"


def version(options):
    return re.search(r"nginx/(\S+)", subprocess.run(["nginx", "-v"], capture_output=True, text=True).stderr).group(1)


def start(place):
    config = place.fill(BENCH / "peers/nginx/nginx.conf", "nginx.conf", connections=place.open_files - 500)
    return ["nginx", "-p", place.folder, "-c", config, "-e", place.folder / "error.log"]
