"""An earlier version of this code beside the present one, each as processes of its own in its own folder."""

import io
import json
import os
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schedules.supervisor.checks import free_port

ROOT = Path(__file__).parents[2]
PREVIOUS = "a52024e0029718cffdac1e16c04e5812a9f5ec35"
"""The version that is upgraded from. It moves on with each release; its schema lacks what came since."""
PASSWORD = "a password of the test 1"
PATIENCE_S = 120.0


def unpack_previous(folder: Path) -> Path:
    """The files of the previous version; skips the test by name where the history is not there."""
    archived = subprocess.run(
        ["git", "archive", "--format=tar", PREVIOUS], cwd=ROOT, capture_output=True, check=False
    )
    if archived.returncode:
        pytest.skip(f"git history: commit {PREVIOUS[:12]} is not there")
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


@dataclass(frozen=True)
class Version:
    """One version on a warehouse and a data folder that several may share."""

    code: Path
    data: Path
    url: str

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(self.code),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DATA_DIR": str(self.data),
            "WAREHOUSE_URL": self.url,
            "ENV_FILE": str(self.data / "absent.env"),
            "DATA_SOURCE": "mock",
            "SIMULATOR_URL": "http://127.0.0.1:9",
            "SIMULATOR_TDX": "127.0.0.1:9",
            "SAMPLE_NOW": "2026-08-21T15:30",
            "ADMIN_SEED_PASSWORD": PASSWORD,
            "RATE_LIMIT_PER_MIN": "0",
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A process of this version, to its end."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.code,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def must(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    @contextmanager
    def api(self) -> Iterator["Api"]:
        """The API of this version, from its first answer on."""
        port = free_port()
        with subprocess.Popen(
            [sys.executable, "-m", "serving_api"],
            cwd=self.code,
            env={**self.environment, "API_PORT": str(port)},
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                found = Api(port)
                end = time.monotonic() + PATIENCE_S
                while found.get("/docs").status != 200:
                    assert process.poll() is None, "the API ended"
                    assert time.monotonic() < end, "the API did not start"
                    time.sleep(0.1)
                yield found
            finally:
                process.terminate()
                process.wait(30)


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any


class Api:
    """Requests to one API as plain JSON."""

    def __init__(self, port: int) -> None:
        self._root = f"http://127.0.0.1:{port}"
        self._headers: dict[str, str] = {}

    def login(self, username: str, password: str) -> Answer:
        answer = self.post("/api/v1/auth/login", {"username": username, "password": password})
        if answer.status == 200:
            self._headers = {"Authorization": f"Bearer {answer.body['access_token']}"}
        return answer

    def get(self, path: str) -> Answer:
        return self._ask(urllib.request.Request(self._root + path, headers=self._headers))

    def post(self, path: str, body: Any) -> Answer:
        headers = {"Content-Type": "application/json", **self._headers}
        return self._ask(
            urllib.request.Request(self._root + path, json.dumps(body).encode(), headers, method="POST")
        )

    def _ask(self, request: urllib.request.Request) -> Answer:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
                is_json = "json" in answer.headers.get("Content-Type", "")
                return Answer(answer.status, json.loads(text) if is_json else text)
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read())
        except OSError:
            return Answer(0, None)
