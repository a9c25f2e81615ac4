"""`python -m serving_api`: one uvicorn worker on API_HOST:API_PORT."""

import gc
import socket
import sys
from typing import Unpack

import uvicorn

from core.errors import PlatformError
from core.network_addresses import parse_networks
from resources import logs, tracing
from resources.listener import ListenerConfig, listen
from resources.redact import redact
from resources.settings import Settings, process_settings, refuse_reserved
from resources.stored_settings import platform_settings
from serving_api.app import Parts, create_app
from serving_api.framework.application import Application
from serving_api.realtime.hub import QuoteHub

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
    sockets = [listen(settings.api_host, settings.api_port, "API_PORT", shared=settings.api_processes > 1)]
    if settings.api_check_port:
        # Which of several processes answers at the common port is chance; here it is this one.
        sockets.append(listen("127.0.0.1", settings.api_check_port, "API_CHECK_PORT"))
    config = ListenerConfig(
        app,
        max_per_address=settings.max_connections_per_address,
        proxies=parse_networks(settings.trusted_proxies),
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
