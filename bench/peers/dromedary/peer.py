"""The gateway itself, with everything switched on that its own routes switch on."""

import hashlib
import os
import re
import subprocess

from harness import bodies, native
from harness.options import PROJECT

TITLE = "Dromedary"
DOES = "keys, limits, routing by model and affinity, retries, usage asked for and cut out, usage line, metrics"
JIT = True

MODEL_ROUTE = """
- route:
    id: bench-model-@N@
    errorHandler: { noErrorHandler: {} }
    from:
      uri: model:@MODEL@
      steps:
        - loadBalance:
            customLoadBalancer: { ref: affinity }
            steps:
              - to: vllm:http://127.0.0.1:@A@?slots=100000
              - to: vllm:http://127.0.0.1:@B@?slots=100000
"""
KEY = """
  - id: @ID@
    tenant: bench
    sha256: @HASH@
    models: ["*"]
    limits: { requests-per-minute: 1000000000, tokens-per-minute: 1000000000000, concurrent-requests: 1000000, tokens-per-month: 1000000000000000 }
"""


def launcher(options):
    return options.gateway / "bin" / "dromedary"


def java(options):
    return options.java or os.environ.get("JAVA_HOME")


def missing(options):
    if os.access(launcher(options), os.X_OK):
        return None
    return f"the gateway is not built: {os.path.relpath(launcher(options), PROJECT)} is missing"


def version(options):
    program = f"{java(options)}/bin/java" if java(options) else "java"
    text = subprocess.run([program, "-version"], capture_output=True, text=True).stderr
    return "JDK " + re.search(r'version "([^"]+)"', text).group(1)


def routes(place):
    """The routes that the gateway came with, its models taken out and the benchmark's put in."""
    product = (place.options.gateway / "conf" / "routes.yaml").read_text()
    items = re.split(r"(?m)^(?=- )", product)
    kept = [item for item in items if not re.search(r"(?m)^\s+(from:\s*\{\s*)?uri:\s*[\"']?model:[^*\s]", item)]
    replicas = place.replicas
    names = [*(f"other/model-{n}" for n in range(1, place.settings.get("models", 1))), bodies.MODEL]
    ours = "".join(MODEL_ROUTE.replace("@N@", str(n)).replace("@MODEL@", name).replace("@A@", str(replicas[0])).replace("@B@", str(replicas[1]))
                   for n, name in enumerate(names))
    return "".join(kept).rstrip() + "\n" + ours


def environment(options):
    return {"DROMEDARY_JAVA": str(java(options))} if java(options) else {}


def make_aot_cache(options, cache):
    """Lets the gateway write its AOT cache; returns why it can't, or None."""
    cache.unlink(missing_ok=True)
    done = subprocess.run([launcher(options), "aot"], capture_output=True, text=True,
                          env={**os.environ, **environment(options), "DROMEDARY_AOT_CACHE": str(cache)})
    return None if done.returncode == 0 and cache.exists() else (done.stderr.strip().splitlines() or ["it wrote none"])[-1]


def keys(place):
    """The benchmark's key, and as many others as make up the number asked for."""
    secrets = [native.KEY, *(f"sk-other-{n}" for n in range(1, place.settings.get("keys", 1)))]
    return "keys:\n" + "".join(KEY.replace("@ID@", "bench" if n == 0 else f"other-{n}")
                               .replace("@HASH@", hashlib.sha256(secret.encode()).hexdigest()) for n, secret in enumerate(secrets))


def start(place):
    """Settings of variants: models, keys, event_loops, aot_cache and environment."""
    (place.folder / "application.properties").write_text(
        "gateway.host=127.0.0.1\n"
        f"gateway.port={place.port}\n"
        f"gateway.event-loops={place.settings.get('event_loops', 1)}\n"
        f"gateway.usage.file={place.folder}/usage.jsonl\n"
        f"camel.management.port={place.management_port}\n")
    (place.folder / "keys.yaml").write_text(keys(place))
    (place.folder / "routes.yaml").write_text(routes(place))
    return [launcher(place.options), "run", "--config", place.folder], {
        **environment(place.options), "DROMEDARY_AOT_CACHE": str(place.settings.get("aot_cache", "")),
        **place.settings.get("environment", {})}
