"""A database server and a broker of the test's own, with ports and folders of their own: a test may restart
them, and those who use the machine's do not notice."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from schedules.supervisor.checks import free_port
from schedules.supervisor.process_plan import accepts
from tests.conftest import require

START_S = 120.0
STOP_S = 60.0
RABBITMQ = (
    "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server",
    "/opt/homebrew/sbin/rabbitmq-server",
)
"""The broker's own script: the one on the path asks for the user of the machine's broker."""


@dataclass
class Server:
    """One server on loopback that is started, killed and started again over the same folder."""

    name: str
    command: Sequence[str]
    port: int
    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env={**os.environ, **self.env}, stdout=log, stderr=log, start_new_session=True
            )
        self._wait(lambda: accepts(self.port), START_S, "does not answer")

    def kill(self) -> None:
        """As a power cut does it: nothing is put in order."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(STOP_S)
        self._wait(lambda: not accepts(self.port), STOP_S, "still answers")

    def stop(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def _wait(self, done: Callable[[], bool], limit_s: float, problem: str) -> None:
        end = time.monotonic() + limit_s
        while not done():
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name} {problem}, see {self.folder}")
            time.sleep(0.2)


@contextmanager
def own_mariadb_server(folder: Path) -> Iterator[Server]:
    """A MariaDB without databases; its user root needs no password."""
    server, install = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    require("mariadbd and mariadb-install-db", bool(server and install), "PATH")
    folder.mkdir(parents=True)
    user = ["--user=root"] if os.geteuid() == 0 else []
    subprocess.run(
        [str(install), "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db",
         "--auth-root-authentication-method=normal", *user],
        check=True, capture_output=True,
    )  # fmt: skip
    port = free_port()
    command = [
        str(server), "--no-defaults", f"--datadir={folder / 'data'}", f"--port={port}",
        "--bind-address=127.0.0.1", f"--socket={folder / 's'}", *user,
    ]  # fmt: skip
    made = Server("mariadb", command, port, folder)
    yield from _running(made)


@contextmanager
def own_broker_server(folder: Path) -> Iterator[Server]:
    """A RabbitMQ with its user guest; queues and messages are on its disk."""
    script = next((found for pattern in RABBITMQ for found in sorted(Path("/").glob(pattern[1:]))), None)
    require("rabbitmq-server", script is not None, RABBITMQ[0])
    folder.mkdir(parents=True)
    port = free_port()
    plugins = folder / "enabled_plugins"
    plugins.write_text("[].\n")
    env = {
        "HOME": str(folder),  # its cookie
        "RABBITMQ_NODENAME": f"test{port}@localhost",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none.conf"),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "config"),
    }
    yield from _running(Server("rabbitmq", [str(script)], port, folder, env))


def _running(server: Server) -> Iterator[Server]:
    try:
        server.start()
        yield server
    finally:
        server.stop()
