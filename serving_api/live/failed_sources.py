"""Failed sources of a data type, shared with the other API processes, which do not ask them for a while."""

import asyncio

from core.errors import Unavailable
from serving_api.live.clients import TENCENT
from serving_api.live.data_types import Body, DataType, Found

SAMPLE = f"{TENCENT} sample"
"""Source name of an estimate."""


def failure_of(kind: DataType, upstream: str) -> str:
    """The shared read that stores a failure."""
    return f"{kind.name} of {upstream}"


def in_vain(task: "asyncio.Task[Body]", found: Found | None) -> bool:
    """Whether an upstream failed or was empty. When a guard of our own refused the call nothing was sent."""
    return found is None and not task.cancelled() and not isinstance(task.exception(), Unavailable)
