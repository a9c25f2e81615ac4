"""Claims that decide which of several API processes asks an upstream, and writes in the background."""

import asyncio
import contextvars
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from core.errors import StorageError
from resources.redact import redact
from resources.warehouse.warehouse import Warehouse
from serving_api.db.sessions import write
from serving_api.framework.state import State
from serving_api.live import queries

log = logging.getLogger(__name__)
T = TypeVar("T")

CLAIM_WAIT_S = 0.5
"""Seconds to wait for a busy warehouse before the request goes on without it."""
LOOK_S = 0.1
"""Interval at which a process checks for the answer of another one."""
WRITE_THREADS = 2


class Claims:
    """Claims of one process on shared rows (`refresh_owner`, `refresh_until`). Every method is one short
    transaction in the thread of its caller; raises StorageError when the database is away or busy."""

    def __init__(self, warehouse: Warehouse, wall: Callable[[], float]) -> None:
        self._warehouse = warehouse
        self._wall = wall
        self.owner = uuid.uuid4().hex
        self._ensured: set[queries.Shared] = set()

    def claim(self, row: queries.Shared, seconds: float) -> bool:
        """Whether this process may ask, for at most `seconds`."""
        now = self._wall()
        return self.write(queries.claim_row, row, self.owner, now, now + seconds)

    def release(self, row: queries.Shared) -> None:
        """Release the claim without an answer: another process may ask at once."""
        write(self._warehouse, queries.release_row, row, self.owner)

    def write(self, work: Callable[..., T], row: queries.Shared, *args: Any) -> T:
        """The result of `work` on the row. It is inserted in a transaction of its own: claimers that insert
        and then update in one transaction deadlock on MariaDB."""
        if row not in self._ensured:
            write(self._warehouse, queries.ensure_row, row)
            self._ensured.add(row)
        return write(self._warehouse, work, row, *args)


class Writes:
    """Writes of the live reads, in threads; used on the event loop of one app."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._hanging: set[asyncio.Task[Any]] = set()
        self._limiter: anyio.CapacityLimiter | None = None

    def begin(self, work: Callable[..., Any], *args: Any) -> "asyncio.Task[Any]":
        """Start a write; a failure is logged."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(WRITE_THREADS)
        # Without the call budget of the request that started it.
        task = contextvars.Context().run(
            asyncio.ensure_future, _logged(anyio.to_thread.run_sync(work, *args, limiter=self._limiter))
        )
        self._tasks.add(task)
        task.add_done_callback(self._written)
        return task

    async def claim(self, work: Callable[..., bool], *args: Any) -> bool:
        """Whether this process asks. An unavailable or busy warehouse never prevents a request; while one
        claim hangs, the others do not wait for theirs."""
        if self._hanging:
            return True
        write = self.begin(work, *args)
        done, _ = await asyncio.wait({write}, timeout=CLAIM_WAIT_S)
        if not done:
            self._hanging.add(write)
            return True
        if write.cancelled() or write.exception() is not None:
            return True
        claimed: bool = write.result()
        return claimed

    async def find_or_claim(
        self,
        look: Callable[[], Awaitable[T | None]],
        patience_s: float,
        claim: Callable[..., bool],
        *args: Any,
    ) -> tuple[T | None, bool]:
        """(another process's answer, whether this process holds the claim): the holder of the claim asks,
        the others look for its answer until the timeout. Neither: the time is over."""
        found, claimed, waited = await look(), False, 0.0
        while found is None and not claimed and waited < patience_s:
            claimed = await self.claim(claim, *args)
            if not claimed:
                await asyncio.sleep(LOOK_S)
                waited += LOOK_S
            # Another process may have stored its answer and released the claim meanwhile.
            found = await look()
        return found, claimed

    @property
    def pending(self) -> list["asyncio.Task[Any]"]:
        return [task for task in self._tasks if not task.done()]

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks, self._hanging = set(), set()
        self._limiter = None

    def _written(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        self._hanging.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, StorageError):
            log.error("live answer not shared", exc_info=error)


async def _logged(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except StorageError as error:
        log.warning("live answer not shared: %s", redact(error.message))
        raise


def writes_of(_state: State) -> Writes:
    """The app's writes of live answers (`state.part(writes_of)`)."""
    return Writes()
