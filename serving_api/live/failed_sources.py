"""Whom a data type asked in vain: told to the other API processes, which do not ask the same for a while."""

import asyncio

from core.errors import Unavailable
from serving_api.live.clients import TENCENT
from serving_api.live.data_types import Body, DataType, Found

SAMPLE = f"{TENCENT} sample"
"""Whom an estimate asks."""


def failure_of(kind: DataType, upstream: str) -> str:
    """The shared read that tells of a failure."""
    return f"{kind.name} of {upstream}"


def in_vain(task: "asyncio.Task[Body]", found: Found | None) -> bool:
    """Whether an upstream failed or had nothing to say. Where a guard of our own refused nothing was sent."""
    return found is None and not task.cancelled() and not isinstance(task.exception(), Unavailable)
