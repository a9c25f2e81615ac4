"""`python -m serving_api`: one uvicorn worker on API_HOST:API_PORT."""

import errno
import gc
import socket
import sys
from typing import Unpack

import uvicorn

from core.errors import PlatformError
from resources import logs, tracing
from resources.redact import redact
from resources.settings import Settings, process_settings, refuse_reserved
from resources.stored_settings import platform_settings
from serving_api.app import Parts, create_app
from serving_api.framework.application import Application
from serving_api.realtime.hub import QuoteHub

SILENT_S = 60.0
"""Seconds after which a client that takes no data is dropped, also when it vanished without closing."""


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A bound socket that drops connections whose client stops taking data (Linux). `shared`: other processes
    of this platform listen there too, and the kernel gives each new connection to one of them. Exits with a
    clear message when the address cannot be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # Accepted connections inherit it: otherwise a host that vanished, or a reader that reads nothing,
        # would hold its stream for a quarter of an hour.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(SILENT_S * 1000))
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise SystemExit(f"port {port} on {host} is taken: stop what uses it or set API_PORT") from None
        raise SystemExit(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return sock


GRACE_S = 8
"""Seconds that open requests get at shutdown; the supervisor waits longer than that."""


class Server(uvicorn.Server):
    """Streams never end by themselves: they are closed before the server waits for its requests."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app = self.config.app
        if isinstance(app, Application):
            app.state.platform.part(QuoteHub).close()
        await super().shutdown(sockets)


def serve(settings: Settings, **parts: Unpack[Parts]) -> None:
    """Run until a signal ends it."""
    app = create_app(settings, **parts)
    # What was made so far stays: a full collection would look at all of it, within some request.
    gc.collect()
    gc.freeze()
    sockets = [listen(settings.api_host, settings.api_port, shared=settings.api_processes > 1)]
    if settings.api_check_port:
        # Which of several processes answers at the common port is chance; here it is this one.
        sockets.append(listen("127.0.0.1", settings.api_check_port))
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        access_log=False,
        # X-Forwarded-For is judged by our own rate limit layer (TRUSTED_PROXIES), not rewritten before it.
        proxy_headers=False,
        server_header=False,
        log_config=None,  # its records go to the same log handlers as ours
        log_level=settings.log_level.lower(),
        timeout_graceful_shutdown=GRACE_S,
    )
    Server(config).run(sockets=sockets)


def main() -> int:
    try:
        logs.configure(process_settings(), "api")
        tracing.configure(process_settings(), "api")
        settings = platform_settings()
        refuse_reserved(settings)
        serve(settings)
    except (PlatformError, NotImplementedError) as error:
        sys.stderr.write(f"{redact(str(error))}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
