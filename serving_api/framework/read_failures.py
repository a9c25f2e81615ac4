"""A data failure behind a read is an empty structure, not an error."""

import logging
from collections.abc import Awaitable
from typing import TypeVar

from core.errors import PayloadError, StorageError, Unavailable, UpstreamError
from resources.redact import redact

T = TypeVar("T")
logger = logging.getLogger(__name__)

DATA_FAILURES = (StorageError, UpstreamError, PayloadError, Unavailable)


async def read_or(empty: T, reading: Awaitable[T]) -> T:
    """The result of `reading`, or `empty` when the database or an upstream failed (logged)."""
    try:
        return await reading
    except DATA_FAILURES as error:
        logger.warning("empty answer: %s: %s", type(error).__name__, redact(str(error)))
        return empty
