"""The rig's adapter for Dromedary: GatewaySpec -> application.properties, keys.yaml, routes.yaml; DROMEDARY_HOME names the
built distribution (target/dromedary)."""
import hashlib
import os
import socket
import struct
import threading

from gateway import GatewayBase, MetricName, OUTCOMES, UsageField, free_port


def ms(seconds):
    return f"{round(seconds * 1000)}ms"


class Gateway(GatewayBase):
    name = "dromedary"
    # reload: G
    caps = frozenset("auth usage metrics limits queue multi health timeouts ids maxbody affinity drain dns tls load cors".split())
    U = UsageField(
        key_id="key_id", model="model_served", outcome="outcome", http_status="status", attempts="attempts",
        backend="replica", request_id="request_id", upstream_id="upstream_request_id", ttft_ms="ttft_ms",
        duration_ms="duration_ms", partial="partial")
    M = MetricName(in_flight="dromedary_requests_in_flight", queued="dromedary_requests_queued", slots_used="dromedary_slots_used",
                   key_in_flight="dromedary_keys_requests_running", backend_errors="dromedary_replica_errors_total",
                   backend_up="dromedary_replica_up", reload_failures="",
                   backend_label="replica")
    outcomes = {**OUTCOMES, "rejected": {"rejected", "internal"}}
    policy = {"relay_usage_event": False, "hold_headers": False}
    ready_timeout = 60.0
    dns = None

    def command(self):
        return [os.path.join(os.environ["DROMEDARY_HOME"], "bin", "dromedary"), "run", "--config", self.dir]

    def environ(self):
        return {"DROMEDARY_JAVA_OPTS": "-Dio.netty.leakDetection.level=paranoid -Dgateway.log.level=" + self.spec.log_level}

    def config_path(self):
        return os.path.join(self.dir, "routes.yaml")

    def config_text(self, spec):
        out = [FRONT_DOOR]
        for i, model in enumerate(spec.models):
            options = f"queueLimit: {spec.limits.queue_len}, queueTimeout: {ms(spec.limits.queue_wait)}"
            if model.aliases:
                options += f", aliases: \"{', '.join(model.aliases)}\""
            out.append(f"""
- route:
    id: model-{i}
    errorHandler: {{ noErrorHandler: {{}} }}
    from:
      uri: "model:{model.name}"
      parameters: {{ {options} }}
      steps:
        - loadBalance:
            customLoadBalancer: {{ ref: affinity }}
            steps:""")
            for b in model.backends:
                key = f", apiKey: \"RAW({','.join(b.api_keys)})\"" if b.api_keys else ""
                if spec.upstream_ca and b.url.startswith("https:"):
                    key += f", trustStore: \"{spec.upstream_ca}\""
                out.append(f"""
              - to: {{ uri: "vllm:{b.url}", parameters: {{ slots: {b.slots}{key} }} }}""")
        return "".join(out) + "\n"

    def render(self, spec):
        if self.metrics_url is None:
            self.management = free_port()
            self.metrics_url = f"http://{self.host}:{self.management}/observe/metrics"
        t, h = spec.timeouts, spec.health
        properties = {
            "gateway.host": self.host, "gateway.port": self.port, "gateway.management.port": self.management,
            # pools of connections belong to an event loop: with one, C16 can see that a connection is used again
            "gateway.event-loops": 1, "gateway.usage.file": os.path.join(self.dir, "usage.jsonl"),
            "gateway.usage.flush-interval": "10ms",
            "gateway.max-body-bytes": spec.limits.max_body, "gateway.max-attempts": spec.limits.max_attempts,
            "gateway.connect-timeout": ms(t.connect), "gateway.stall-timeout": ms(t.stall),
            "gateway.total-timeout": ms(t.total), "gateway.write-stall-timeout": ms(t.client_write),
            "gateway.header-timeout": ms(t.header_read), "gateway.body-timeout": ms(t.body_read),
            "gateway.pool-idle-timeout": ms(t.pool_idle), "gateway.drain-timeout": ms(spec.drain),
            "gateway.retry-statuses": "429, 502, 503" if spec.limits.retry_on_503 else "429, 502",
            "gateway.health.path": h.path if h.enabled else "none", "gateway.health.interval": ms(h.interval),
            "gateway.health.timeout": ms(h.timeout), "gateway.health.misses": h.misses, "gateway.health.hits": h.hits,
            "gateway.load.path": "/metrics" if spec.use_backend_load else "none",
        }
        if spec.cors is not None:
            properties["gateway.cors.origins"] = ", ".join(spec.cors)
        if spec.dns is not None:
            self.dns = self.dns or NameServer(spec.dns)
            properties |= {"gateway.dns.servers": f"127.0.0.1:{self.dns.port}",
                           "gateway.dns.min-ttl": ms(spec.dns_refresh), "gateway.dns.max-ttl": ms(spec.dns_refresh)}
        self.write("application.properties", "".join(f"{k} = {v}\n" for k, v in properties.items()))
        keys = ["keys:\n"]
        for k in spec.keys:
            models = ", ".join(f'"{m}"' for m in k.models)
            keys.append(f"  - id: {k.id}\n    tenant: tenant-{k.id}\n"
                        f"    sha256: {hashlib.sha256(k.secret.encode()).hexdigest()}\n"
                        f"    models: [{models}]\n    enabled: {str(not k.disabled).lower()}\n")
            limits = {"requests-per-minute": k.rpm, "tokens-per-minute": k.tpm, "concurrent-requests": k.concurrency}
            given = ", ".join(f"{name}: {value}" for name, value in limits.items() if value is not None)
            if given:
                keys.append(f"    limits: {{ {given} }}\n")
        self.write("keys.yaml", "".join(keys))
        self.write("routes.yaml", self.config_text(spec))

    def set_dns(self, name, addresses):
        if self.dns is None:
            return False
        self.dns.answers[name] = addresses
        return True

    def stop(self):
        super().stop()
        if self.dns:
            self.dns.close()
            self.dns = None

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w") as f:
            f.write(text)


class NameServer:
    """IPv4 addresses of names on a UDP port of 127.0.0.1, with a TTL of a second; a name without any fails (SERVFAIL), one
    that it doesn't know is NXDOMAIN, and other types have no records."""

    def __init__(self, answers):
        self.answers = dict(answers)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.port = self.socket.getsockname()[1]
        self.closed = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while not self.closed.is_set():
            try:
                query, peer = self.socket.recvfrom(4096)
                self.socket.sendto(self.answer(query), peer)
            except OSError:
                continue            # nothing came, or the asker has gone
        self.socket.close()

    def answer(self, query):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1").lower())
            at += 1 + query[at]
        kind = struct.unpack_from("!H", query, at + 1)[0]
        addresses = self.answers.get(".".join(labels))
        code = 3 if addresses is None else 0 if addresses else 2
        records = [b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 1, 4) + socket.inet_aton(a)
                   for a in addresses or () if kind == 1]
        head = query[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, len(records), 0, 0)
        return head + query[12:at + 5] + b"".join(records)

    def close(self):
        self.closed.set()
        self.thread.join()


FRONT_DOOR = """
- route:
    id: front-door
    errorHandler: { noErrorHandler: {} }
    from:
      uri: netty-http:http://{{gateway.host}}:{{gateway.port}}
      parameters:
        serverInitializerFactory: "#door"
      steps:
        - process: { ref: auth }
        - process: { ref: limits }
        - process: { ref: prompt }
        - to: model:*
"""
