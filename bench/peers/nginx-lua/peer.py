"""nginx with Lua that does the gateway's work: what one would write without a gateway."""

import re
import shutil
import subprocess
from pathlib import Path

from harness import bodies, native
from harness.options import BENCH

TITLE = "nginx + Lua, same work"
DOES = ("hashes and checks the key, counts its limits, parses the body, routes by model to the least loaded replica, asks for usage "
        "and cuts its event out, measures the first byte, writes a usage line")
MODULES = Path("/usr/share/nginx/modules")
LUA_MODULE = MODULES / "ngx_http_lua_module.so"


def missing(options):
    if not shutil.which("nginx"):
        return "nginx is not installed"
    if not LUA_MODULE.exists() and not Path("/usr/lib/nginx/modules/ngx_http_lua_module.so").exists():
        return "nginx's Lua module is not installed"
    return None


def version(options):
    nginx = re.search(r"nginx/(\S+)", subprocess.run(["nginx", "-v"], capture_output=True, text=True).stderr).group(1)
    return f"{nginx}, LuaJIT"


def start(place):
    modules = MODULES if LUA_MODULE.exists() else Path("/usr/lib/nginx/modules")
    place.fill(BENCH / "peers/nginx-lua/gateway.lua", "gateway.lua", key=native.KEY, model=bodies.MODEL)
    config = place.fill(BENCH / "peers/nginx-lua/nginx.conf", "nginx.conf", connections=place.open_files - 500, modules=modules)
    return ["nginx", "-p", place.folder, "-c", config, "-e", place.folder / "error.log"]
