"""Servers in processes of their own: the product's API, and what it is compared with."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.panel_data import LAST_DAY

ROOT = Path(__file__).parents[2]
PASSWORD = "bench mark 1"
API = "/api/v1"


@dataclass(frozen=True)
class Server:
    port: int
    pid: int

    def cpu_s(self) -> float:
        """CPU seconds that the process has used; 0 where the system does not say."""
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists():
            return 0.0
        parts = stat.read_text().rpartition(") ")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(arguments: list[str], port: int, environment: dict[str, str]) -> Iterator[Server]:
    """A server in a process of its own, from its first answer on."""
    started = subprocess.Popen([sys.executable, "-m", *arguments], cwd=ROOT, env=environment)
    try:
        limit = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if started.poll() is not None or time.monotonic() > limit:
                    raise RuntimeError(f"{arguments[0]} did not start") from None
                time.sleep(0.1)
        yield Server(port, started.pid)
    finally:
        started.terminate()
        started.wait(20)


@contextmanager
def api(folder: Path, **more: str) -> Iterator[Server]:
    """The product's own command with `more` settings; the rate limit is high, not off."""
    port = free_port()
    environment = {
        **os.environ,
        "DATA_DIR": str(folder),
        "ENV_FILE": str(folder / "absent.env"),
        "API_PORT": str(port),
        "RATE_LIMIT_PER_MIN": "1000000000",
        "ADMIN_SEED_PASSWORD": PASSWORD,
        "SAMPLE_NOW": f"{LAST_DAY}T16:00",
        "LOG_LEVEL": "WARNING",
        **more,
    }
    with process(["serving_api"], port, environment) as server:
        yield server


def login(port: int) -> str:
    body = json.dumps({"username": "admin", "password": PASSWORD}).encode()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}{API}/auth/login", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return str(json.load(answer)["access_token"])
