"""A data failure behind a read is an empty structure, not an error: an upstream that fails, or a database
that is away as a whole.

A database that is there and fails in one read (locked, busy) is no such thing: an answer with the version of
its tables (ETag) would say that they are empty. `PlatformRoute` makes it a 503.
"""

import logging
from collections.abc import Awaitable
from typing import TypeVar

from core.errors import MissingTable, PayloadError, StorageError, Unavailable, UpstreamError
from resources.redact import redact
from serving_api.db.request_notes import note_failure

T = TypeVar("T")
logger = logging.getLogger(__name__)

DATA_FAILURES = (StorageError, UpstreamError, PayloadError, Unavailable)


async def read_or(empty: T, reading: Awaitable[T]) -> T:
    """The result of `reading`, or `empty` when the database (noted) or an upstream failed (logged)."""
    try:
        return await reading
    except DATA_FAILURES as error:
        logger.warning("empty answer: %s: %s", type(error).__name__, redact(str(error)))
        if isinstance(error, StorageError) and not isinstance(error, MissingTable):
            note_failure(error)
        return empty
