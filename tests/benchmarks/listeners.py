"""Clients of the event streams: many connections of one process that read, do not read, or vanish."""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.measure import MIB
from tests.benchmarks.servers import Server


@dataclass
class Listener:
    """One connection. `ids`: of the events that came, in their order; `times`: when they did."""

    path: str
    reads: bool = True
    ids: list[int] = field(default_factory=list)
    bytes_read: int = 0
    times: list[float] = field(default_factory=list)
    _writer: asyncio.StreamWriter | None = None
    _task: "asyncio.Task[None] | None" = None

    async def connect(self, port: int) -> None:
        """Until the head of the answer is there."""
        reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self._writer.write(f"GET {self.path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head[:80].decode())
        if self.reads:
            self._task = asyncio.ensure_future(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                self.bytes_read += len(line)
                if line.startswith(b"id: "):
                    self.ids.append(int(line[4:]))
                    self.times.append(time.monotonic())

    def vanish(self) -> None:
        """Without the end of a conversation: the connection is reset."""
        if self._writer is not None:
            sock: socket.socket = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        self._end()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._end()

    async def ended(self, within_s: float) -> None:
        """Until the other side has ended the stream; TimeoutError when it does not."""
        if self._task is not None:
            await asyncio.wait_for(self._task, within_s)

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()


@dataclass(frozen=True)
class Used:
    """What a process holds: file descriptors, MiB of memory of its own, CPU seconds so far."""

    descriptors: int
    memory_mib: float
    cpu_s: float


def used(server: Server) -> Used:
    """Linux only."""
    place = Path(f"/proc/{server.pid}")
    memory = next(line for line in (place / "status").read_text().splitlines() if line.startswith("RssAnon"))
    return Used(len(list((place / "fd").iterdir())), int(memory.split()[1]) * 1024 / MIB, server.cpu_s())


async def connect_all(listeners: Sequence[Listener], port: int, *, together: int = 20) -> None:
    for at in range(0, len(listeners), together):
        await asyncio.gather(*(one.connect(port) for one in listeners[at : at + together]))


def is_over(server: Server) -> bool:
    """Whether the process has ended, waited for or not."""
    try:
        return Path(f"/proc/{server.pid}/stat").read_text().rpartition(") ")[2][0] == "Z"
    except OSError:
        return True


async def descriptors_down_to(server: Server, number: int, within_s: float) -> bool:
    """Whether the process gives its descriptors back."""
    end = time.monotonic() + within_s
    while used(server).descriptors > number:
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.25)
    return True
