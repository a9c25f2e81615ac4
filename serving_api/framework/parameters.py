"""Parameters that many routes share: codes, the instant of an as-of read, the price adjustment."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query
from pydantic import AfterValidator, StringConstraints
from starlette.requests import Request

from core.clock import local_iso, stamp
from core.errors import InputError
from core.market.symbols import NOTATION
from serving_api.db.request_notes import current_security
from serving_api.framework.state import state_of

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")
_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_END_OF_DAY = time(23, 59, 59, 999999)
_SHANGHAI = timedelta(hours=8)

CODE_PATTERN = f"^{re.sub(r'[?]P<[a-z]+>', '?:', NOTATION)}$"
Code = Annotated[str, StringConstraints(pattern=CODE_PATTERN), AfterValidator(current_security)]
"""Six digits in a body, given in any notation; a former code is read as the one of today."""
_ABOUT: dict[str, Any] = {
    "pattern": CODE_PATTERN,
    "description": "6-digit code; sh600519, 600519.SH and 1.600519 are read as well",
    "examples": ["600519"],
}
StockCode = Annotated[str, Path(**_ABOUT), AfterValidator(current_security)]
CodeQuery = Annotated[str, Query(**_ABOUT), AfterValidator(current_security)]
Adjust = Annotated[
    Literal["none", "qfq", "hfq"],
    Query(description="multiplicative adjustment of OHLC: qfq = 1 at the newest bar, hfq = 1 at listing"),
]


@dataclass(frozen=True)
class AsOf:
    """The instant whose knowledge is asked for, naive local exchange time."""

    at: datetime

    @property
    def bound(self) -> str:
        """As the warehouse compares it."""
        return stamp(self.at)

    @property
    def echo(self) -> str:
        return local_iso(self.at)


def parse_as_of(text: str, now: datetime) -> AsOf:
    """An ISO date (the end of that day) or date-time (local unless it has an offset).
    Raises InputError for anything else and for the future."""
    allowed = "give a date (YYYY-MM-DD) or a date-time (YYYY-MM-DDTHH:MM:SS) that is not in the future"
    try:
        if _DAY.fullmatch(text):
            day = datetime.fromisoformat(text).date()
            future, at = day > now.date(), datetime.combine(day, _END_OF_DAY)
        elif _INSTANT.fullmatch(text):
            at = datetime.fromisoformat(text)
            if at.tzinfo is not None:
                at = at.astimezone(UTC).replace(tzinfo=None) + _SHANGHAI
            future = at > now
        else:
            raise InputError("as_of", f"{text[:40]!r} is malformed; {allowed}")
    except (ValueError, OverflowError):
        raise InputError("as_of", f"{text[:40]!r} is no date; {allowed}") from None
    if future:
        raise InputError("as_of", f"{text!r} lies in the future; {allowed}")
    return AsOf(at)


async def as_of_read(
    request: Request,
    as_of: Annotated[
        str | None, Query(description="answer with what was known then: a date (its end) or a date-time")
    ] = None,
) -> AsOf | None:
    """The instant of a read; None for what is known now."""
    return None if as_of is None else parse_as_of(as_of, state_of(request).clock.now())


AsOfRead = Annotated[AsOf | None, Depends(as_of_read)]


def bound_of(as_of: AsOf | None) -> str | None:
    """The instant as the warehouse compares it; None for what is known now."""
    return None if as_of is None else as_of.bound


def echo_of(as_of: AsOf | None) -> dict[str, str]:
    """The key with which an answer repeats the instant; {} for what is known now."""
    return {} if as_of is None else {"as_of": as_of.echo}


def calendar_day(parameter: str, given: str) -> str:
    """ISO date of `YYYYMMDD` or `YYYY-MM-DD`. Raises InputError."""
    try:
        if _DAY.fullmatch(given):
            return date.fromisoformat(given).isoformat()
    except ValueError:
        pass  # said below
    raise InputError(parameter, f"{given[:20]!r} is no date; YYYYMMDD or YYYY-MM-DD is allowed")


def parse_codes(text: str, cap: int, parameter: str = "codes") -> list[str]:
    """Codes of a comma list, each once, former ones as those of today; at most `cap`. Raises InputError."""
    codes = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not codes:
        raise InputError(
            parameter, f"the list is empty; give 1..{cap} codes of 6 digits, separated by commas"
        )
    if len(codes) > cap:
        raise InputError(parameter, f"{len(codes)} codes; at most {cap} are allowed")
    try:
        return list(dict.fromkeys(map(current_security, codes)))
    except ValueError as problem:
        raise InputError(parameter, str(problem)) from None


def code_list(cap: int) -> Callable[[str], Awaitable[list[str]]]:
    """A dependency: the required query parameter `codes`, at most `cap` of them."""

    async def codes_parameter(
        codes: Annotated[
            str, Query(description=f"comma list of 6-digit codes, at most {cap}", examples=["600519,000001"])
        ],
    ) -> list[str]:
        return parse_codes(codes, cap)

    return codes_parameter
