"""Keep-alive clients that have asked once and then say nothing."""

import contextlib
import socket
from collections.abc import Iterator

from harness import native
from harness.options import Complaint


def request(body: bytes) -> bytes:
    return (f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {native.KEY}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


@contextlib.contextmanager
def idle(port: int, count: int, body: bytes) -> Iterator[None]:
    """Holds `count` connections open for the length of a `with` block, each after one answered request."""
    asking = request(body)
    held: list[socket.socket] = []
    try:
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), timeout=10)
            held.append(client)
            client.sendall(asking)
            if not client.recv(65536).startswith(b"HTTP/1.1 200"):
                raise Complaint("an idle client's only request was refused")
        yield
        for client in held:
            client.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                if client.recv(65536) == b"":
                    raise Complaint("the proxy closed an idle client's connection")
    finally:
        for client in held:
            client.close()
