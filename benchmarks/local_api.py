"""A decision API on this machine that always says the same, to measure those who ask it."""

from __future__ import annotations

import contextlib
import http.server
import json
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

REPLY = json.dumps(
    {
        "answers": [{"type": "choice", "name": "decision", "choice": "billing", "confidence": 0.9}],
        "model": "typesafe-ai/jev-1.13.0",
        "usage": {"input_tokens": 50, "output_tokens": 0},
    }
).encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one write, or each answer waits for a delayed ACK

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response_only(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(REPLY)))
        self.end_headers()
        self.wfile.write(REPLY)
        self.wfile.flush()


def _serve(port: int) -> None:
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - for its life
    http.server.ThreadingHTTPServer.address_family = socket.AF_INET
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.serve_forever()


@contextlib.contextmanager
def served() -> Iterator[str]:
    """Serve in a process of its own, whose CPU is nobody's here; give the base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = multiprocessing.Process(target=_serve, args=(port,), daemon=True)
    server.start()
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.join()


def wait_for(port: int) -> None:
    """Wait until a server listens there."""
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 0.1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


def variables(base: str) -> dict[str, str]:
    """Give the variables that let `jev` decide there."""
    return {"AI_GATEWAY_API_KEY": "benchmark", "JEV_BASE_URL": base, "DECISION_PROVIDER": "jev"}


def request(base: str) -> dict[str, Any]:
    """Give what a bare client posts there, by name."""
    body = {"model": "typesafe-ai/jev", "input": "my invoice", "questions": []}
    headers = {"authorization": "Bearer benchmark", "content-type": "application/json"}
    return {"url": f"{base}/decisions", "content": json.dumps(body).encode(), "headers": headers}
