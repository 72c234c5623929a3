"""Spring Cloud Gateway on WebFlux: what a Java user would otherwise take. Built with Maven when it is first asked for."""

import os
import re
import shutil
import subprocess
import sys

from harness.options import BENCH, TARGET

TITLE = "Spring Cloud Gateway (WebFlux)"
DOES = "relays by path to one replica; no keys, limits, routing by model, usage or log"
JIT = True
PROJECT = BENCH / "peers" / "spring-cloud-gateway"
BUILD = TARGET / "spring-cloud-gateway"
JAR = BUILD / "spring-cloud-gateway.jar"
FLAGS = ["-XX:+UseSerialGC", "-Xms128m", "-Xmx512m", "-XX:MaxDirectMemorySize=1536m", "-XX:-UsePerfData",
         "-Dreactor.netty.ioWorkerCount=1"]
BUILD_SECONDS = 300


def java_home(options):
    return str(options.java) if options.java else os.environ.get("JAVA_HOME")


def missing(options):
    """Builds what is older than its sources; None when there is something to run."""
    if JAR.exists() and all(JAR.stat().st_mtime > f.stat().st_mtime for f in (PROJECT / "pom.xml", *PROJECT.rglob("*.java"))):
        return None
    if not shutil.which("mvn"):
        return "Maven is not installed"
    print("spring-cloud-gateway: building, once; Maven may have to download it", file=sys.stderr, flush=True)
    home = java_home(options)
    try:
        done = subprocess.run(["mvn", "-q", "-B", "-f", PROJECT / "pom.xml", f"-Dbuild.folder={BUILD}", "package"], capture_output=True,
                              text=True, timeout=BUILD_SECONDS, env={**os.environ, **({"JAVA_HOME": home} if home else {})})
    except subprocess.TimeoutExpired:
        return f"Maven did not build it within {BUILD_SECONDS} s"
    if done.returncode == 0 and JAR.exists():
        return None
    return "Maven can't build it: " + next((line for line in done.stdout.splitlines() if "ERROR" in line), "no word why")[:200]


def version(options):
    pom = (PROJECT / "pom.xml").read_text()
    boot = re.search(r"<version>([^<]+)</version>\s+<relativePath/>", pom).group(1)
    return f"{re.search(r'<spring-cloud.version>([^<]+)<', pom).group(1)}, Spring Boot {boot}"


def start(place):
    config = place.fill(PROJECT / "application.yaml", "application.yaml")
    home = java_home(place.options)
    return [f"{home}/bin/java" if home else "java", *FLAGS, "-jar", JAR, f"--spring.config.location=file:{config}"]
