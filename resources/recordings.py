"""A day of upstream responses as a folder: what was asked (redacted) and what came back, to the byte.

    <folder>/index.jsonl     one line per response, in the order in which they came
    <folder>/bodies/<hash>.zst

A recording is made from what the platform keeps anyway (`sys_fetch` and the payload store), so it can be made
of any day whose payloads are still there; it holds copies, and outlives their retention. `RecordedResponses`
answers a request by its hash, so a replay may ask in any order.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import zstandard

from core.errors import InputError, NotFound, Unavailable
from resources.fetch_record import Fetch, Outcome
from resources.warehouse.engine import transaction
from resources.warehouse.warehouse import Warehouse

INDEX, BODIES = "index.jsonl", "bodies"
_COLUMNS = (
    "request_key, upstream, call_name, request, codes_or_page, http_status, outcome, attempt, received_at, "
    "sha256, body_path, fetch_id"
)
_GOOD = (Outcome.OK, Outcome.EMPTY)
_LONGEST_NAME = 32


@dataclass(frozen=True)
class Recorded:
    """One response. `body` is its hash; '' for none."""

    request_key: str
    upstream: str
    call_name: str
    request: str
    codes_or_page: str
    http_status: int | None
    outcome: str
    attempt: int
    received_at: str
    body: str

    @property
    def good(self) -> bool:
        return self.outcome in _GOOD


@dataclass(frozen=True)
class Made:
    """What a recording holds; the bodies of `lost` responses are deleted."""

    responses: int
    bodies: int
    lost: int
    newest: str | None


def record(warehouse: Warehouse, day: str, folder: Path) -> Made:
    """Copy the responses that were received on a calendar day into a new folder, whose name is written into
    their `sys_fetch` rows. InputError for a folder that exists, NotFound for a day without responses."""
    name = folder.name
    if folder.exists():
        raise InputError("folder", f"{folder} is there already")
    if not 0 < len(name) <= _LONGEST_NAME:
        raise InputError("folder", f"its name has 1 to {_LONGEST_NAME} characters")
    bounds = (f"{day} 00:00:00", f"{day} 23:59:59.999999")
    rows = warehouse.query(
        f"SELECT {_COLUMNS} FROM sys_fetch WHERE received_at>=? AND received_at<=? "
        "ORDER BY received_at, fetch_id",
        bounds,
    )
    if not rows:
        raise NotFound(f"no upstream response of {day} is stored")
    (folder / BODIES).mkdir(parents=True)
    held: set[str] = set()
    lost = 0
    with (folder / INDEX).open("w", encoding="utf-8") as index:
        for *facts, sha256, body_path, _ in rows:
            body = warehouse.payloads.get(str(body_path)) if body_path else None
            if body_path and body is None:
                lost += 1
                continue
            if body is not None and sha256 not in held:
                held.add(str(sha256))
                _body_path(folder, str(sha256)).write_bytes(zstandard.compress(body, 3))
            one = _recorded(facts, str(sha256) if body is not None else "")
            index.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")
    with transaction(warehouse.engine) as connection:
        connection.exec_driver_sql(
            warehouse.sql.text("UPDATE sys_fetch SET recording=? WHERE received_at>=? AND received_at<=?"),
            (name, *bounds),
        )
    return Made(len(rows) - lost, len(held), lost, str(rows[-1][8]))


def _recorded(facts: Sequence[Any], body: str) -> Recorded:
    """The first nine of `_COLUMNS` and the hash of the body; one engine returns times as objects."""
    key, upstream, call, request, label, status, outcome, attempt, at = facts
    return Recorded(
        request_key=str(key),
        upstream=str(upstream),
        call_name=str(call),
        request=str(request),
        codes_or_page=str(label or ""),
        http_status=None if status is None else int(status),
        outcome=str(outcome),
        attempt=int(attempt),
        received_at=str(at),
        body=body,
    )


def _body_path(folder: Path, sha256: str) -> Path:
    return folder / BODIES / f"{sha256}.zst"


def keep(fetches: Iterable[Fetch], folder: Path) -> int:
    """Write responses into a new folder as a recording; returns their number."""
    (folder / BODIES).mkdir(parents=True)
    count = 0
    with (folder / INDEX).open("w", encoding="utf-8") as index:
        for one in fetches:
            if one.body:
                _body_path(folder, one.sha256).write_bytes(zstandard.compress(one.body, 3))
            facts = (one.request_key, one.upstream, one.call_name, one.request, one.codes_or_page)
            how = (one.http_status, str(one.outcome), one.attempt, one.received_at)
            index.write(json.dumps(asdict(_recorded((*facts, *how), one.sha256 if one.body else ""))) + "\n")
            count += 1
    return count


class RecordedResponses:
    """The responses of a recording by request. Of several responses to one request the newest good one
    counts: it was in force at the end of the day."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            text = (folder / INDEX).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise NotFound(f"{folder} holds no recording") from None
        self._answers: dict[str, Recorded] = {}
        newest = ""
        for one in _parsed(text.splitlines()):
            newest = max(newest, one.received_at)
            known = self._answers.get(one.request_key)
            if known is None or one.good or not known.good:
                self._answers[one.request_key] = one
        self.newest = datetime.fromisoformat(newest)

    def __len__(self) -> int:
        return len(self._answers)

    def answer(self, request_key: str, what: str) -> Recorded:
        """The recorded response. Raises Unavailable for a request that was not made on that day."""
        found = self._answers.get(request_key)
        if found is None:
            raise Unavailable(f"the recording has no answer to {what}")
        return found

    def body(self, one: Recorded) -> bytes:
        if not one.body:
            return b""
        return zstandard.decompress(_body_path(self._folder, one.body).read_bytes())


def _parsed(lines: Iterable[str]) -> Iterable[Recorded]:
    for number, line in enumerate(lines, start=1):
        try:
            yield Recorded(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise InputError("recording", f"line {number} of its index is damaged") from error
