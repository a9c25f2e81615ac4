"""What every HTTP parser needs before it can trust bytes: decoding, numbers, dates.

All functions raise `PayloadError` for invalid content, `Refused` for a page in place of data
and `Transient` for an empty body (both portals cut off clients that way before they answer 403).
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from itertools import pairwise
from typing import Any

import orjson

from core.errors import PayloadError, Refused, Transient, WrongUnit

_JSONP = re.compile(rb"\A[\w$.]+\s*\(\s*(.*?)\s*\)\s*;?\s*\Z", re.DOTALL)
_ASSIGNED = re.compile(rb"\A(?:var\s+)?[\w$.]+\s*=\s*(.*?)\s*;?\s*\Z", re.DOTALL)
# Beyond this a double has lost its cents, and no market quantity comes near it.
_LARGEST = 1e17

_NO_LIMIT_FROM, _FLOOR = 9_999.0, 0.01
_WIDEST = 3.0
"""No limit that was ever in force is further from the previous close: the widest were +57 % and -44 %."""

PX = 4
PCT = 4
AMT = 2


def present(body: bytes) -> bytes:
    """`body` without a byte-order mark and surrounding blanks, if it can be data at all."""
    text = body.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        raise Transient("empty body")
    if text[:1] == b"<":
        raise Refused("a page instead of data")
    return text


def text_of(body: bytes, encoding: str) -> str:
    try:
        return present(body).decode(encoding)
    except UnicodeDecodeError as error:
        raise PayloadError(f"not {encoding}: {error.reason} at byte {error.start}") from error


def json_of(body: bytes) -> Any:
    """JSON, JSONP or `name=JSON`."""
    text = present(body)
    if text[:1] not in {b"{", b"["}:
        wrapped = _JSONP.match(text) or _ASSIGNED.match(text)
        if wrapped is None:
            raise PayloadError(f"neither JSON nor JSONP: {text[:40]!r}")
        text = wrapped.group(1)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise PayloadError(f"damaged JSON: {error.msg} at byte {error.pos}") from error


def object_of(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PayloadError(f"{what} is no object but {type(value).__name__}")
    return value


def list_of(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise PayloadError(f"{what} is no list but {type(value).__name__}")
    return value


def string_of(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise PayloadError(f"{what} is no text but {type(value).__name__}")
    return value


def promised(row: Mapping[str, Any], names: Iterable[str], what: str) -> None:
    """PayloadError when a field that was asked for is not there: the contract has changed."""
    gone = [name for name in names if name not in row]
    if gone:
        raise PayloadError(f"{what}: no field {', '.join(gone)}")


def some_of(row: Mapping[str, Any], names: Iterable[str], what: str) -> None:
    """PayloadError when none of these fields is there: one that is missing costs its column, all of them are
    a changed contract."""
    requested = tuple(names)
    if not any(name in row for name in requested):
        raise PayloadError(f"{what}: none of the fields {', '.join(requested)}")


_NO_NUMBERS = frozenset({"", "-", "--", "---", "—", "——", "N/A", "null"})
_NO_INTEGERS = frozenset({-2_147_483_648.0, 2_147_483_647.0, 2_147_483_648.0, 4_294_967_295.0})
"""The ends of 32 bits, which stand for no value; no figure is exactly one of them."""
_NO_DAYS = frozenset({"0001-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01"})
"""The zero of several calendars, which stands for no date."""


def number(value: Any, what: str, *, digits: int = PX, scale: float = 1.0) -> float:
    """A finite number times `scale`, rounded; missing (None, '', '-', '--', the ends of 32 bits) is NaN."""
    if value is None or (isinstance(value, str) and value.strip() in _NO_NUMBERS):
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise PayloadError(f"{what} is no number but {type(value).__name__}")
    if isinstance(value, str) and "_" in value:
        raise PayloadError(f"{what} is no number: {value!r}")
    try:
        result = float(value)
    except (ValueError, OverflowError) as error:
        raise PayloadError(f"{what} is no number: {value!r}") from error
    if result in _NO_INTEGERS:
        return math.nan
    if not math.isfinite(result) or abs(result) > _LARGEST:
        raise PayloadError(f"{what} is no valid number: {value!r}")
    # + 0.0 turns -0.0 into 0.0, so that equal input compares equal as text too.
    return round(result * scale, digits) + 0.0


def amount(value: Any, what: str, *, scale: float = 1.0) -> float:
    """Money or a count that cannot be below zero; 2 decimals."""
    result = number(value, what, digits=AMT, scale=scale)
    if result < 0:
        raise PayloadError(f"{what} is below zero: {value!r}")
    return result


def ungrouped(value: Any) -> Any:
    """A text without its thousands commas; anything else as it is."""
    return value.replace(",", "") if isinstance(value, str) else value


def grouped_amount(value: Any, what: str, *, scale: float = 1.0) -> float:
    """`amount` of a text that may hold thousands commas."""
    return amount(ungrouped(value), what, scale=scale)


def price(value: Any, what: str) -> float:
    """A price that cannot be below zero; additive adjusted series are, and are never asked for."""
    result = number(value, what)
    if result < 0:
        raise PayloadError(f"{what} is below zero: {value!r}")
    return result


def required(value: float, what: str) -> float:
    if math.isnan(value):
        raise PayloadError(f"{what} is missing")
    return value


def whole(value: float, what: str) -> int:
    """A count that must be there and be whole."""
    required(value, what)
    if value != int(value):
        raise PayloadError(f"{what} is not whole: {value!r}")
    return int(value)


def nothing_to_missing(value: float) -> float:
    """NaN in place of 0, where 0 is how the upstream says 'none' (a price level, a cap, a ratio)."""
    return math.nan if value == 0 else value


def iso_day(text: str, what: str) -> str:
    """`YYYY-MM-DD` from `YYYYMMDD`, `YYYY-MM-DD` or `YYYY/MM/DD`."""
    digits = text.strip().replace("-", "").replace("/", "")
    if len(digits) != 8 or not digits.isascii() or not digits.isdigit():
        raise PayloadError(f"{what} is no date: {text!r}")
    try:
        day = date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError as error:
        raise PayloadError(f"{what} is no date: {text!r}") from error
    if not 1985 <= day.year <= 2100:
        raise PayloadError(f"{what} is no valid date: {text!r}")
    return day.isoformat()


def is_no_day(text: str) -> bool:
    """Whether a text in the place of a date says that there is none: empty, a dash, 0, or the zero of a
    calendar (1900-01-01)."""
    plain = text.strip()[:10].replace("/", "-")
    if len(plain) == 8 and plain.isdigit():
        plain = f"{plain[:4]}-{plain[4:6]}-{plain[6:]}"
    return plain in _NO_NUMBERS or plain.strip("0-") == "" or plain in _NO_DAYS


def moment(text: str, pattern: str, what: str) -> datetime:
    try:
        when = datetime.strptime(text, pattern)
    except ValueError as error:
        raise PayloadError(f"{what} is no time: {text!r}") from error
    if not 1985 <= when.year <= 2100:
        raise PayloadError(f"{what} is no valid time: {text!r}")
    return when


def ascending(values: list[str], what: str) -> None:
    """Raises when a series goes back or repeats itself."""
    for before, after in pairwise(values):
        if after <= before:
            raise PayloadError(f"{what}: {after} follows {before}")


def ordered_ohlc(row: tuple[float, float, float, float], what: str) -> None:
    """Open, high, low, close of a traded bar: all above zero, high on top, low at the bottom."""
    open_, high, low, close = row
    if not all(value > 0 for value in row):
        raise PayloadError(f"{what}: a price is missing or not above zero: {row}")
    if high < max(open_, close, low) or low > min(open_, close, high):
        raise PayloadError(f"{what}: high and low do not enclose open and close: {row}")


def quoted_limits(up: float, down: float, last_close: float) -> tuple[float, float]:
    """(limit-up, limit-down) of a quote; NaN for both on a day without limits, which quotes mark by prices
    that cannot be: 100000.00, 99999.99 or a million above, 0.00 or 0.01 below."""
    if up >= _NO_LIMIT_FROM or up > last_close * _WIDEST or down < last_close / _WIDEST:
        return math.nan, math.nan
    return up, (math.nan if math.isnan(up) and down <= _FLOOR else down)


def between_extremes(last: float, low: float, high: float, what: str) -> None:
    """Raises when a last price is outside its extremes, or they are swapped; a missing one (NaN) is not
    compared, the others still are."""
    if low > high or last > high or low > last:
        raise PayloadError(f"{what}: {last} is not between {low} and {high}")


def check_unit(*, shares: float, amount_cny: float, low: float, high: float, what: str) -> None:
    """Volume-unit guard: amount / volume must be near the price range, or lots and shares are mixed up.

    A factor of 5 to both sides leaves room for odd lots and rounding and still catches 100."""
    if not (shares > 0 and amount_cny > 0 and high > 0 and low > 0):
        return
    mean = amount_cny / shares
    if not low / 5 <= mean <= high * 5:
        raise WrongUnit(f"{what}: amount / volume = {mean:.4f} is far outside {low}..{high}: wrong unit")
