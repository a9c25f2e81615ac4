"""Receipts: the inputs of an answer, readable by the user who asked, for some days.

They are stored in the database, so that every API process serves them. When a receipt cannot be stored,
the answer only lacks its `receipt_id`.
"""

import base64
import hashlib
import logging
import secrets
import zlib
from typing import Any

import orjson

from core.clock import stamp
from core.errors import StorageError
from resources.redact import redact
from resources.warehouse.engine import transaction
from serving_api.chat import queries
from serving_api.chat.limits import RECEIPT_DAYS, RECEIPTS_PER_USER
from serving_api.db.adjusted_reads import factor_so_far
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.framework.user import User

log = logging.getLogger(__name__)


def hash_of(*parts: str) -> str:
    """SHA-256 of several texts; boundaries between texts count."""
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()


async def keep(state: State, user: User, kind: str, question_hash: str, body: dict[str, Any]) -> str | None:
    """Store it with what its values say of their factor; returns its id, or None when the database is busy
    or unavailable."""
    now = state.system.wall()
    row = {
        "receipt_id": secrets.token_hex(16),
        "user_id": user.id,
        "asked_at": stamp(state.system.local()),
        "expires_at": now + RECEIPT_DAYS * 86_400,
        "kind": kind,
        "question_hash": question_hash,
        "provenance": body["provenance"],
        "body": _packed({**body, "factor": factor_so_far()}),
    }

    def write() -> None:
        with transaction(state.writer.engine) as connection:
            queries.keep(connection, state.writer.sql, row, RECEIPTS_PER_USER, now)

    try:
        await off_loop(write)
    except StorageError as error:
        log.warning("an answer has no receipt: %s", redact(str(error)))
        return None
    return str(row["receipt_id"])


async def find(state: State, user: User, receipt_id: str) -> dict[str, Any] | None:
    """The receipt; None when it does not exist, belongs to another user, or has expired."""
    read = state.reading.point(queries.receipt, receipt_id, user.id, state.system.wall())
    return _unpacked(await read_or(None, read))


async def answered_before(state: State, user: User, question_hash: str) -> dict[str, Any] | None:
    """The newest receipt of a model's answer to the same question."""
    read = state.reading.point(queries.newest_answer, user.id, question_hash, state.system.wall())
    return _unpacked(await read_or(None, read))


def _packed(body: dict[str, Any]) -> str:
    return base64.b64encode(zlib.compress(orjson.dumps(body), 6)).decode()


def _unpacked(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    body: dict[str, Any] = orjson.loads(zlib.decompress(base64.b64decode(text)))
    return body
