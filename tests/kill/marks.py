"""How far a process came before it was killed, as seen from outside of the product.

The harness listens to SQLAlchemy's own events and appends one short line per event to a file. Each line
is one `write(2)`, so what a killed process had reported is whole and stays.
"""

import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from resources.warehouse import bulk_load

LEASE = "UPDATE sys_domain_lock SET heartbeat_at"
"""The last statement of a write under a lease."""


class Marks:
    """Reports the write transactions of this process's main thread; the heartbeat thread's stay out.

    `die_after`: kill -9 this process after so many statements (COMMIT counts as one, reported before it
    is sent as well as after) of its first write transaction.
    """

    def __init__(self, path: Path, *, die_after: int | None = None) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._die_after = die_after
        self._steps = 0
        self._main = threading.get_ident()
        self._writing = False

    def note(self, word: str) -> None:
        os.write(self._file, f"{word}\n".encode())

    def watch(self, target: Any = Engine) -> None:
        """Listen to one engine, or to every engine of the process."""
        event.listen(target, "after_cursor_execute", self._executed)
        event.listen(target, "commit", self._committing)
        event.listen(target, "rollback", self._rolled_back)
        self._watch_loads()

    def _watch_loads(self) -> None:
        """A LOAD of MariaDB goes past SQLAlchemy's events: it is a step when half of its rows are sent, and
        one when the server has taken them."""
        send = bulk_load._send

        def marked(driver: Any, statement: str, text: bytes) -> int:
            packets = iter(range(-(-len(text) // bulk_load._PACKET) // 2, -1, -1))
            write = driver.write_packet

            def write_packet(data: bytes) -> None:
                write(data)
                if next(packets, None) == 0:
                    self._loading()

            driver.write_packet = write_packet
            try:
                return send(driver, statement, text)
            finally:
                del driver.write_packet
                self._loading()

        bulk_load._send = marked

    def _loading(self) -> None:
        if self._writing and threading.get_ident() == self._main:
            self.note("load")
            self._step()

    def _executed(
        self, _connection: Connection, _cursor: Any, statement: str, *_rest: Any, **_named: Any
    ) -> None:
        if threading.get_ident() != self._main:
            return
        if "table_version" in statement and statement.startswith("SELECT version"):
            self._writing = True
            self.note("first")
        elif self._writing:
            self.note("last" if statement.startswith(LEASE) else "statement")
        if self._writing:
            self._step()

    def _committing(self, _connection: Connection) -> None:
        if self._writing and threading.get_ident() == self._main:
            self.note("commit")
            self._step()
            self._writing = False

    def _rolled_back(self, _connection: Connection) -> None:
        if threading.get_ident() == self._main:
            self._writing = False

    def done(self, word: str) -> None:
        """The write returned."""
        self.note(f"done {word}")
        self._step()

    def _step(self) -> None:
        self._steps += 1
        if self._die_after is not None and self._steps >= self._die_after:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Landing:
    """Where a kill landed. `between`: after the first statement of a write and before its last one."""

    between: bool
    committing: bool
    done: tuple[str, ...]
    statements: int


def landing(path: Path) -> Landing:
    """Read what a dead process had reported."""
    lines = path.read_text().splitlines() if path.exists() else []
    last = lines[-1] if lines else ""
    return Landing(
        between=last in {"first", "statement", "load"},
        committing=last in {"last", "commit"},
        done=tuple(line.removeprefix("done ") for line in lines if line.startswith("done ")),
        statements=sum(line in {"first", "statement", "load", "last"} for line in lines),
    )
