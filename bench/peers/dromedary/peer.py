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
    id: bench-model
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
    """The product's routes with its models taken out and the benchmark's put in."""
    product = (PROJECT / "src/main/resources/routes.yaml").read_text()
    items = re.split(r"(?m)^(?=- )", product)
    kept = [item for item in items if not re.search(r"(?m)^\s+(from:\s*\{\s*)?uri:\s*[\"']?model:[^*\s]", item)]
    replicas = place.replicas
    ours = MODEL_ROUTE.replace("@MODEL@", bodies.MODEL).replace("@A@", str(replicas[0])).replace("@B@", str(replicas[1]))
    return "".join(kept).rstrip() + "\n" + ours


def start(place):
    (place.folder / "application.properties").write_text(
        "gateway.host=127.0.0.1\n"
        f"gateway.port={place.port}\n"
        "gateway.event-loops=1\n"
        f"gateway.usage.file={place.folder}/usage.jsonl\n"
        f"camel.management.port={place.management_port}\n")
    (place.folder / "keys.yaml").write_text(
        "keys:\n  - id: bench\n    tenant: bench\n"
        f"    sha256: {hashlib.sha256(native.KEY.encode()).hexdigest()}\n"
        '    models: ["*"]\n')
    (place.folder / "routes.yaml").write_text(routes(place))
    environment = {"JAVA_HOME": str(java(place.options))} if java(place.options) else {}
    return [launcher(place.options), "run", "--config", place.folder], environment
