"""`python -m tests.benchmarks.bare <port> <file>`: uvicorn with the product's options around an app that
answers every request with the bytes of a file. What no framework can beat here."""

import sys
from pathlib import Path
from typing import Any

import uvicorn


def application(head: list[tuple[bytes, bytes]], status: int, body: bytes) -> Any:
    start = {"type": "http.response.start", "status": status, "headers": head}
    end = {"type": "http.response.body", "body": body}

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send(start)
            await send(end)

    return app


def main(port: int, path: Path) -> None:
    body = path.read_bytes()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    app = application(head if body else [], 200 if body else 304, body)
    uvicorn.run(
        app, port=port, loop="uvloop", http="httptools", access_log=False, lifespan="off",
        proxy_headers=False, server_header=False, log_level="warning",
    )  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
