"""Blocking calls beside the event loop."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import anyio.to_thread

T = TypeVar("T")


async def off_loop(work: Callable[..., T], *args: Any, **how: Any) -> T:
    """Run a blocking call in a thread."""
    return await anyio.to_thread.run_sync(functools.partial(work, *args, **how))
