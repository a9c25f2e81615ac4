"""Values as the terminal protocol writes them: varints, float32, packed dates, server times.

Readers take `(buffer, position)` and raise IndexError, struct.error or ValueError when the bytes do not
hold such a value; `accepted` turns these into `PayloadError` at the border of each parser, so that a
parser either returns everything that its body promised or raises.
"""

import functools
import math
import struct
from collections.abc import Callable
from datetime import date
from typing import Any, ParamSpec, TypeVar

from core.errors import PayloadError

SOURCE = "tdx"

#: Column name -> values; what parsers return. The client makes frames of it.
Columns = dict[str, list[Any]]

_FLOAT = struct.Struct("<f")
_FLOAT_INTEGERS = 1 << 24
_SMALLEST, _LARGEST = 1.0e-30, 1.0e17
_COUNT = struct.Struct("<H")
_NO_DATE = 19_850_000
"""No date of the mainland's market is older."""
# 9 continuation bytes hold any 64-bit value; a longer run is not a number but noise.
_MAX_SHIFT = 62

P = ParamSpec("P")
R = TypeVar("R")


def accepted(what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a parser: whatever its bytes make Python stumble over is a `PayloadError` about `what`."""

    def decorate(parse: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(parse)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return parse(*args, **kwargs)
            except (IndexError, struct.error, ValueError, OverflowError) as error:
                raise PayloadError(f"{what}: {error}", source=SOURCE) from error

        return wrapper

    return decorate


def read_varint(buf: bytes, pos: int) -> tuple[int, int]:
    """One signed varint -> (value, position behind it). Six low bits and the sign in the first byte."""
    values, pos = read_varints(buf, pos, 1)
    return values[0], pos


def read_varints(buf: bytes, pos: int, count: int) -> tuple[list[int], int]:
    """`count` varints in a row -> (values, position behind them)."""
    out: list[int] = []
    for _ in range(count):
        first = buf[pos]
        pos += 1
        value = first & 0x3F
        if first & 0x80:
            shift = 6
            while True:
                byte = buf[pos]
                pos += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80:
                    break
                shift += 7
                if shift > _MAX_SHIFT:
                    raise ValueError(f"a number of more than {_MAX_SHIFT} bits at byte {pos}")
        out.append(-value if first & 0x40 else value)
    return out, pos


def read_float(buf: bytes, pos: int) -> float:
    """float32 at `pos`. The protocol's 'encoded volume' is nothing else; NaN, infinity and what no market
    quantity is are refused. 5.88e-39, which some servers write for nothing, is 0."""
    value: float = _FLOAT.unpack_from(buf, pos)[0]
    if not math.isfinite(value) or abs(value) > _LARGEST:
        raise ValueError(f"no finite number of a market at byte {pos}")
    return 0.0 if abs(value) < _SMALLEST else value


def shortest(value: float) -> float:
    """The number that was meant by a float32: 434.6, not 434.6000061. From 2**24 on the float itself."""
    if abs(value) >= _FLOAT_INTEGERS:
        return value
    wire = _FLOAT.pack(value)
    candidates = (float(f"{value:.{digits}g}") for digits in (6, 7, 8))
    return next((meant for meant in candidates if _FLOAT.pack(meant) == wire), value)


def read_count(buf: bytes, pos: int = 0) -> int:
    """The u16 row count that most bodies start with."""
    value: int = _COUNT.unpack_from(buf, pos)[0]
    return value


def require(condition: bool, problem: str) -> None:
    """Raises ValueError (PayloadError at the parser's border) unless `condition`."""
    if not condition:
        raise ValueError(problem)


def require_end(body: bytes, pos: int) -> None:
    """The body must be consumed exactly: leftover bytes mean that it was read in the wrong layout."""
    require(pos == len(body), f"{len(body)} bytes, of which the promised rows take {pos}")


def require_amount(value: float) -> float:
    """Money of a bar or quote: not negative. CNY, at most 2 decimals."""
    require(value >= 0, f"negative amount {value}")
    return round(value, 2)


@functools.lru_cache(maxsize=16384)
def date_text(yyyymmdd: int) -> str:
    """20260306 -> '2026-03-06'; ValueError when there is no such day."""
    return date(yyyymmdd // 10000, yyyymmdd // 100 % 100, yyyymmdd % 100).isoformat()


def known_date_text(yyyymmdd: int) -> str | None:
    """The same; None for what stands for no date: 0, 19000101."""
    return date_text(yyyymmdd) if yyyymmdd > _NO_DATE else None


@functools.lru_cache(maxsize=4096)
def packed_date_text(packed: int) -> str:
    """The u16 day of minute bars: years since 2004 above bit 11, month * 100 + day below."""
    return date((packed >> 11) + 2004, (packed & 2047) // 100, (packed & 2047) % 100).isoformat()


@functools.lru_cache(maxsize=2048)
def minute_text(minutes: int) -> str:
    """Minutes since midnight -> 'HH:MM'."""
    require(0 <= minutes < 24 * 60, f"minute {minutes} of the day")
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def server_time_text(value: int) -> str | None:
    """Quote server time -> 'HH:MM:SS' (fractions cut); None when the value is no time of day.

    Below the hour the number counts in two ways, distinguished by its leading digits (wire document, 1.2):
    14042282 -> 14:04:13, 14999512 -> 14:59:58.
    """
    hour, rest = divmod(value, 1_000_000)
    if value <= 0 or hour > 23:
        return None
    if rest // 10_000 < 60:
        minute, second = rest // 10_000, rest % 10_000 * 60 // 10_000
    else:
        minute, second = rest * 60 // 1_000_000, rest * 60 % 1_000_000 * 60 // 1_000_000
    return f"{hour:02d}:{minute:02d}:{second:02d}"


def gbk_text(raw: bytes) -> str:
    """GBK up to the first NUL. Fixed-width names may cut their last character, which is dropped."""
    raw = raw.split(b"\0", 1)[0]
    for cut in (raw, raw[:-1]):
        try:
            return cut.decode("gb18030").rstrip()
        except UnicodeDecodeError:
            continue
    return raw.decode("gb18030", errors="replace").rstrip()


def code_text(raw: bytes) -> str:
    """Six ASCII letters or digits; anything else is not a security code."""
    code = raw.decode("ascii", errors="replace")
    require(code.isalnum() and code.isascii(), f"{raw!r} is no security code")
    return code
