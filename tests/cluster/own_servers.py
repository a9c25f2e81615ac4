"""Servers that a test may kill: a MariaDB and a RabbitMQ of its own, on free ports, in folders of its own."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from schedules.supervisor.checks import free_port
from tests.conftest import require

START_S = 120.0
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


@dataclass
class Server:
    """One server process, started, killed and started again on the same data."""

    name: str
    url: str
    port: int
    command: Sequence[str]
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    ready: Callable[[int], bool] = lambda port: True
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it answers."""
        log = (self.folder / f"{self.name}.log").open("ab")
        self.process = subprocess.Popen(
            list(self.command), env={**os.environ, **self.env}, stdout=log, stderr=log, start_new_session=True
        )
        log.close()
        end = time.monotonic() + START_S
        while not self.ready(self.port):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / f"{self.name}.log").read_text()[-2000:])
            time.sleep(0.2)

    def kill(self) -> None:
        """As a crash does it."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _sends_greeting(port: int) -> bool:
    """A MySQL server speaks first."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as link:
            link.settimeout(2)
            return bool(link.recv(5))
    except OSError:
        return False


def _speaks_amqp(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as link:
            link.settimeout(5)
            link.sendall(b"AMQP\x00\x00\x09\x01")
            return bool(link.recv(7))
    except OSError:
        return False


@contextmanager
def own_mariadb_server(folder: Path) -> Iterator[Server]:
    """Without accounts, on loopback; its database is `cluster`."""
    install, program = shutil.which("mariadb-install-db"), shutil.which("mariadbd")
    require("the programs of MariaDB", install is not None and program is not None, "PATH")
    assert install is not None
    assert program is not None
    folder.mkdir(parents=True)
    data, port = folder / "data", free_port()
    subprocess.run(
        [install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal",
         "--skip-test-db", "--user=root"], check=True, capture_output=True,
    )  # fmt: skip
    command = [
        program, "--no-defaults", f"--datadir={data}", f"--port={port}", f"--socket={folder / 's'}",
        "--bind-address=127.0.0.1", "--skip-grant-tables", "--user=root", "--character-set-server=utf8mb4",
        "--transaction-isolation=READ-COMMITTED",
    ]  # fmt: skip
    url = f"mysql+pymysql://root@127.0.0.1:{port}/cluster?charset=utf8mb4"
    yield from _running(Server("mariadb", url, port, command, folder, ready=_sends_greeting))


@contextmanager
def own_broker_server(folder: Path) -> Iterator[Server]:
    """A node of its own with the account guest."""
    require("the program of RabbitMQ", RABBITMQ.is_file() and shutil.which("erl") is not None, str(RABBITMQ))
    folder.mkdir(parents=True)
    (folder / "plugins").write_text("[].\n")
    port = free_port()
    (folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{port}\n")
    env = {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"cluster{port}@localhost",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_CONFIG_FILES": str(folder / "none"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "none.config"),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder),
        "RABBITMQ_LOG_BASE": str(folder),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
    }
    url = f"amqp://guest:guest@127.0.0.1:{port}//"
    yield from _running(Server("rabbitmq", url, port, [str(RABBITMQ)], folder, env, ready=_speaks_amqp))


def _running(server: Server) -> Iterator[Server]:
    server.start()
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.kill()
