"""`python -m tests.benchmarks.bare <port> <file>`: uvicorn with the product's options around an app that
answers every request with one recorded answer, head and body. What no framework can beat here."""

import json
import sys
from pathlib import Path
from typing import Any

import uvicorn

from tests.benchmarks.load import Whole


def store(path: Path, answer: Whole) -> None:
    """An answer as `main` reads it."""
    head = [(name, value) for name, value in answer.headers if name not in {"date", "server"}]
    path.with_suffix(".head").write_text(json.dumps([answer.status, head]))
    path.write_bytes(answer.body)


def application(head: list[tuple[bytes, bytes]], status: int, body: bytes) -> Any:
    start = {"type": "http.response.start", "status": status, "headers": head}
    end = {"type": "http.response.body", "body": body}

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send(start)
            await send(end)

    return app


def main(port: int, path: Path) -> None:
    status, pairs = json.loads(path.with_suffix(".head").read_text())
    head = [(name.encode(), value.encode()) for name, value in pairs]
    app = application(head, status, path.read_bytes())
    uvicorn.run(
        app, port=port, loop="uvloop", http="httptools", access_log=False, lifespan="off",
        proxy_headers=False, server_header=False, log_level="warning",
    )  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
