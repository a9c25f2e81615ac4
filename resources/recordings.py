"""A day of upstream responses as a folder: what was asked (redacted) and what came back, to the byte.

    <folder>/index.jsonl     one line per response, in the order in which they came
    <folder>/bodies/<hash>.zst

A recording is made from what the platform keeps anyway (`sys_fetch` and the payload store), so it can be made
of any day whose payloads are still there; it holds copies, and outlives their retention. `RecordedResponses`
answers a request by its hash, so a replay may ask in any order.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from operator import attrgetter
from pathlib import Path

import zstandard

from core.errors import InputError, NotFound, Unavailable
from resources.fetch_record import Fetch, Outcome
from resources.warehouse import records
from resources.warehouse.engine import transaction
from resources.warehouse.warehouse import Warehouse

INDEX, BODIES = "index.jsonl", "bodies"
_COLUMNS = (
    "request_key, upstream, call_name, request, codes_or_page, http_status, outcome, attempt, received_at, "
    "sha256, body_path"
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

    def found() -> Iterator[tuple[Recorded, bytes]]:
        for *facts, sha256, body_path in rows:
            body = warehouse.payloads.get(str(body_path)) if body_path else b""
            if body is not None:
                yield records.record(Recorded, (*facts, sha256 if body_path else "")), body

    responses, bodies = _written(folder, found())
    with transaction(warehouse.engine) as connection:
        connection.exec_driver_sql(
            warehouse.sql.text("UPDATE sys_fetch SET recording=? WHERE received_at>=? AND received_at<=?"),
            (name, *bounds),
        )
    return Made(responses, bodies, len(rows) - responses, str(rows[-1][8]))


def keep(fetches: Iterable[Fetch], folder: Path) -> int:
    """Write responses into a new folder as a recording; returns their number."""
    facts = attrgetter(*(one.name for one in fields(Recorded) if one.name != "body"))
    made = (
        (records.record(Recorded, (*facts(one), one.sha256 if one.body else "")), one.body) for one in fetches
    )
    return _written(folder, made)[0]


def _written(folder: Path, responses: Iterable[tuple[Recorded, bytes]]) -> tuple[int, int]:
    """Write a new recording of responses with their bodies; how many responses and bodies it has."""
    (folder / BODIES).mkdir(parents=True)
    count, held = 0, set[str]()
    with (folder / INDEX).open("w", encoding="utf-8") as index:
        for one, body in responses:
            if one.body and one.body not in held:
                held.add(one.body)
                _body_path(folder, one.body).write_bytes(zstandard.compress(body, 3))
            index.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")
            count += 1
    return count, len(held)


def _body_path(folder: Path, sha256: str) -> Path:
    return folder / BODIES / f"{sha256}.zst"


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
