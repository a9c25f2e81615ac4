"""The simulated upstreams' HTTP side: one loopback port for all of them.

Routing: the `Host` header when it is an upstream's own name, else the first path segment (= upstream
key). Threads and keep-alive, as the real ones. Faults of the wire are acted out here, on the finished
answer. `/_control/health`, `/_control/calls` and `/_control/faults` steer and observe.
"""

import json
import logging
import os
import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from core.clock import Clock, stamp
from simulated_market.conditions import Conditions, state_of
from simulated_market.corrupted_responses import CORRUPTIONS, corrupted_body
from simulated_market.false_facts import distorted
from simulated_market.faults import Fault, FaultPlan
from simulated_market.hosts import upstream_of_host
from simulated_market.wire import HttpRequest, Reply, Responder, Route, View, json_reply
from simulated_market.world.model import World

logger = logging.getLogger(__name__)

_MOST_BODY = 1_000_000
# Long enough for every client's own timeout, short enough to end by itself.
_SILENCE_SEC = 60.0
_BLOCK_PAGE = (
    "<!DOCTYPE html><html><head><title>访问受限</title></head><body>请完成验证后继续访问</body></html>"
).encode()


class HttpServer:
    """Serves `responders` on `host`:`port` (0 = a free port) until `stop`."""

    def __init__(
        self,
        world: World,
        clock: Clock,
        faults: FaultPlan,
        responders: Sequence[Responder],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.world = world
        self.clock = clock
        self.faults = faults
        self.routes: dict[str, Sequence[Route]] = {one.upstream: one.routes for one in responders}
        self.conditions = Conditions(state_of(world))
        self.stopping = threading.Event()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._calls_lock = threading.Lock()
        self._server = _Server((host, port), _Handler)
        self._server.owner = self
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> tuple[str, int]:
        host, port = self._server.server_address[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        host, port = self.address
        return f"http://{host}:{port}"

    def start(self) -> None:
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="http", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join(timeout=5)
        self._server.close_connections()
        self._server.server_close()

    def __enter__(self) -> "HttpServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def count(self, upstream: str, call: str) -> None:
        with self._calls_lock:
            self._calls[upstream, call] += 1

    def calls(self) -> dict[str, dict[str, int]]:
        """Requests per upstream and call since the start or the last reset."""
        with self._calls_lock:
            held = dict(self._calls)
        result: dict[str, dict[str, int]] = {}
        for (upstream, call), number in sorted(held.items()):
            result.setdefault(upstream, {})[call] = number
        return result

    def reset_calls(self) -> None:
        with self._calls_lock:
            self._calls.clear()

    def fault(self, upstream: str, call: str, request: HttpRequest) -> Fault | None:
        """The fault of a rule that hits, else that of a standing condition."""
        found = self.faults.take(upstream, call)
        return found or self.conditions.fault(upstream, call, request, self.clock.now())

    def answer(self, route: Route, request: HttpRequest, fault: Fault | None) -> Reply:
        world, now = distorted(self.world, self.clock.now(), fault)
        reply = route.handle(request, View(world, now, fault))
        if fault is not None and fault.args.get("cached"):
            return replace(reply, headers={**reply.headers, **_cached_at(now)})
        if fault is not None and fault.kind in CORRUPTIONS:
            return replace(reply, body=corrupted_body(reply.body, reply.content_type, fault))
        return reply


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: HttpServer

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Ends idle keep-alive connections, whose threads would wait for a next request."""
        with self._connections_lock:
            held = list(self._connections)
        for connection in held:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError as error:
                logger.debug("connection was gone already: %s", error)

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.debug("connection of %s ended", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "simulated-market"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 75
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        logger.debug(format, *args)

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MOST_BODY:
            self._send(Reply(b"too large", "text/plain", 413))
            return
        body = self.rfile.read(length) if length else b""
        # Not urlsplit: a path may hold ';', ':' and ',' in any place.
        path, _, query = self.path.partition("?")
        if path.startswith("/_control/"):
            self._send(_control(self.server.owner, self.command, path, body))
            return
        upstream, path = self._upstream(path)
        route = self._route(upstream, path)
        if upstream is None or route is None:
            self._send(Reply(b"404 Not Found", "text/html", 404))
            return
        owner = self.server.owner
        owner.count(upstream, route.call)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = HttpRequest(self.command, path, query, headers, body)
        fault = owner.fault(upstream, route.call, request)
        if fault is not None and fault.kind in _BEFORE:
            _BEFORE[fault.kind](self, fault)
            return
        reply = owner.answer(route, request, fault)
        if fault is not None and fault.kind in _AFTER:
            _AFTER[fault.kind](self, fault, reply)
            return
        self._send(reply)

    def _upstream(self, path: str) -> tuple[str | None, str]:
        named = upstream_of_host(self.headers.get("Host", ""))
        if named is not None:
            return named, path
        first, slash, rest = path.lstrip("/").partition("/")
        return (first if first in self.server.owner.routes else None), slash + rest

    def _route(self, upstream: str | None, path: str) -> Route | None:
        for route in self.server.owner.routes.get(upstream or "", ()):
            if route.pattern.fullmatch(path):
                return route
        return None

    def _send(self, reply: Reply, *, body: bytes | None = None, promised: int | None = None) -> None:
        """Send `reply`; `body` replaces its body, `promised` its Content-Length."""
        sent = reply.body if body is None else body
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(sent) if promised is None else promised))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)
        self.wfile.flush()

    do_GET = do_POST = do_DELETE = _serve

    # --- faults of the wire

    def fail_timeout(self, fault: Fault) -> None:
        self.server.owner.stopping.wait(float(fault.args.get("seconds", _SILENCE_SEC)))
        self.close_connection = True

    def fail_status(self, fault: Fault) -> None:
        code = int(fault.args.get("code", 503))
        headers = {"Retry-After": str(fault.args["retry_after"])} if "retry_after" in fault.args else {}
        text = str(fault.args.get("body", f"<html><body>{code}</body></html>"))
        self._send(Reply(text.encode(), "text/html", code, headers))

    def fail_reset(self, fault: Fault) -> None:
        # Closing with linger 0 sends RST instead of FIN.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # Past the socket object, which would say a polite goodbye first.
        os.close(self.connection.detach())
        self.close_connection = True

    def fail_html(self, fault: Fault) -> None:
        self._send(Reply(_BLOCK_PAGE, "text/html; charset=UTF-8"))

    def fail_empty(self, fault: Fault) -> None:
        self._send(Reply(b"", "text/html"))

    def fail_truncate(self, fault: Fault, reply: Reply) -> None:
        """args: keep (fraction or bytes, 0.5), honest (bool): the length matches what is sent."""
        keep = fault.args.get("keep", 0.5)
        size = int(len(reply.body) * keep) if isinstance(keep, float) else int(keep)
        cut = reply.body[:size]
        self._send(reply, body=cut, promised=len(cut) if fault.args.get("honest") else len(reply.body))
        self.close_connection = True

    def fail_garbage(self, fault: Fault, reply: Reply) -> None:
        noise = random.Random(int(fault.args.get("seed", 1))).randbytes(max(64, len(reply.body) // 4))
        # 0xff opens no character in any of the encodings in use.
        self._send(reply, body=b"\xff\xff" + noise)

    def fail_slow(self, fault: Fault, reply: Reply) -> None:
        rate = float(fault.args.get("bytes_per_second", 10))
        self._send(reply, body=b"", promised=len(reply.body))
        step = max(1, int(rate / 10))
        for at in range(0, len(reply.body), step):
            if self.server.owner.stopping.wait(step / rate):
                break
            self.wfile.write(reply.body[at : at + step])
            self.wfile.flush()


_BEFORE = {
    "timeout": _Handler.fail_timeout,
    "status": _Handler.fail_status,
    "reset": _Handler.fail_reset,
    "html": _Handler.fail_html,
    "empty": _Handler.fail_empty,
}
_AFTER = {"truncate": _Handler.fail_truncate, "garbage": _Handler.fail_garbage, "slow": _Handler.fail_slow}


def _cached_at(moment: datetime) -> dict[str, str]:
    """Headers of an object that a cache has held since a moment (Shanghai)."""
    utc = moment - timedelta(hours=8)
    return {"Last-Modified": f"{utc:%a, %d %b %Y %H:%M:%S} GMT", "X-Cache": "HIT"}


def _control(owner: HttpServer, method: str, path: str, body: bytes) -> Reply:
    if path == "/_control/health" and method == "GET":
        health = {
            "status": "ok",
            "world": owner.world.label,
            "now": stamp(owner.clock.now()),
            "frozen": owner.clock.frozen,
            "upstreams": sorted(owner.routes),
        }
        return json_reply(health, spaced=True)
    if path == "/_control/calls" and method in {"GET", "DELETE"}:
        if method == "DELETE":
            owner.reset_calls()
        return json_reply(owner.calls(), spaced=True)
    if path == "/_control/faults":
        if method == "DELETE":
            owner.faults.clear()
        elif method == "POST":
            try:
                owner.faults.replace(_rules(body))
            except (ValueError, KeyError, TypeError) as error:
                return replace(json_reply({"detail": f"faults: {error}"}, spaced=True), status=422)
        return json_reply({"rules": owner.faults.documents()}, spaced=True)
    return Reply(b"404 Not Found", "text/plain", 404)


def _rules(body: bytes) -> list[dict[str, Any]]:
    """A list of rules, or {"rules": [...]}."""
    document = json.loads(body or b"[]")
    rules = document.get("rules") if isinstance(document, dict) else document
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ValueError("a list of rules is needed")
    return rules
