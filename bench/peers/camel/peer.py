"""Camel with one ordinary route and nothing of the gateway: what the scenario nonai compares with."""

from harness import peers

TITLE = "plain Camel"
DOES = "answers GET /hello; no inference"
JIT = True
PATH = "/hello"

ROUTE = """
- route:
    id: hello
    from:
      uri: netty-http:http://127.0.0.1:@PORT@/hello
      parameters: { workerCount: 1, bossCount: 1, usingExecutorService: false }
      steps:
        - setBody: { constant: "Hello from Camel beside the models.\\n" }
"""
FLAGS = ["-XX:+UseSerialGC", "-Xms128m", "-Xmx512m", "-XX:-UsePerfData"]

gateway = peers.load("dromedary")


def missing(options):
    return gateway.missing(options)


def version(options):
    return gateway.version(options)


def start(place):
    """From the gateway's libraries without the gateway, with Camel's own main class."""
    (place.folder / "hello.yaml").write_text(ROUTE.replace("@PORT@", str(place.port)))
    jars = [str(jar) for jar in sorted((place.options.gateway / "lib").glob("*.jar")) if not jar.name.startswith("dromedary")]
    java = gateway.java(place.options)
    return [f"{java}/bin/java" if java else "java", *FLAGS, f"-Dcamel.main.routesIncludePattern=file:{place.folder}/hello.yaml",
            "-Dcamel.main.jmxEnabled=false", "-cp", ":".join(jars), "org.apache.camel.main.Main"]
