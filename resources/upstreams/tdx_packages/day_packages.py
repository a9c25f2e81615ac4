"""Package of one trade date (`g4day/YYYYMMDD.zip`): of each market `.cod`, its codes, and `.md1`, their bars.

A record of `.cod` (150 bytes) holds the code and a number; the bar is at that number in the blocks of 512
bytes of `.md1`. Public clients compared a dozen real packages of 2021-08-16 to 2026-09-18 with quotes: prices
are unadjusted, the previous close is the quoted one. Beijing is in them since 2022-05-06, and before 2022
most securities of Shenzhen have no price.
"""

import re

import numpy as np

from core.market import securities
from core.market.symbols import instrument
from resources.upstreams.tdx_packages.arrays import Arrays, damaged, iso, taken

MEMBER = re.compile(r"(sh|sz|bj)(\d{6})\.(cod|md1)")
_CODES = np.dtype({"names": ["code", "at"], "formats": ["S6", "<u2"], "offsets": [0, 32], "itemsize": 150})
_BAR = np.dtype(
    {
        "names": ["last_close", "open", "high", "low", "close", "volume", "amount"],
        "formats": ["<f8", "<f8", "<f8", "<f8", "<f8", "<u8", "<f8"],
        "offsets": [4, 12, 20, 28, 36, 56, 72],
        "itemsize": 512,
    }
)
_PRICES = ("last_close", "open", "high", "low", "close")
_BEIJING_SINCE = "2022-05-06"


def read_date(members: dict[str, bytes], day: str) -> Arrays:
    """symbol, last_close (the quoted previous close), open, high, low, close, volume (shares), amount (CNY)
    of every security that the package of a trade date (ISO) lists and that has a price. Of a suspended one
    the prices are the previous close, volume and amount 0. PayloadError when a member is missing, cut off,
    or of another date."""
    stamp = day[2:].replace("-", "")
    parts = []
    for market in ("sh", "sz", "bj"):
        pair = [members.get(f"{market}{stamp}.{ending}") for ending in ("cod", "md1")]
        if market == "bj" and pair == [None, None] and day < _BEIJING_SINCE:
            continue
        if pair[0] is None or pair[1] is None:
            raise damaged(f"package of {day}: holds {', '.join(sorted(members)) or 'nothing'}")
        parts.append(_market(market, pair[0], pair[1], day))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _market(market: str, codes: bytes, bars: bytes, day: str) -> Arrays:
    what = f"package of {day}, {market}"
    if len(codes) % _CODES.itemsize or len(bars) % _BAR.itemsize:
        raise damaged(f"{what}: {len(codes)} and {len(bars)} bytes are no whole records; it is cut off")
    listed = np.frombuffer(codes, dtype=_CODES)
    blocks = np.frombuffer(bars, dtype=_BAR)
    if len(listed) and int(listed["at"].max()) >= len(blocks):
        raise damaged(f"{what}: a code at {int(listed['at'].max())} of {len(blocks)} bars")
    if len(np.unique(listed["code"])) != len(listed) or len(np.unique(listed["at"])) != len(listed):
        raise damaged(f"{what}: a code or a bar twice")
    if not (np.char.isdigit(listed["code"]) & (np.char.str_len(listed["code"]) == 6)).all():
        raise damaged(f"{what}: a code that is none")
    own = blocks[listed["at"]]
    symbols = np.char.add(market, listed["code"].astype(str))
    places = np.array([_decimals(symbol) for symbol in symbols.tolist()], dtype=np.int64)
    columns: Arrays = {"symbol": symbols}
    for name in _PRICES:
        values = own[name].astype(np.float64)
        if not np.isfinite(values).all():
            raise damaged(f"{what}: a price that is no finite number")
        columns[name] = np.round(values * 10.0**places) / 10.0**places
    columns["volume"] = own["volume"].astype(np.int64)
    columns["amount"] = np.round(own["amount"].astype(np.float64), 2)
    if not np.isfinite(columns["amount"]).all() or (columns["amount"] < 0).any():
        raise damaged(f"{what}: an amount that is none")
    return _traded_or_idle(columns)


def _traded_or_idle(columns: Arrays) -> Arrays:
    idle = (columns["volume"] == 0) & (columns["open"] <= 0)
    for name in _PRICES[1:]:
        columns[name] = np.where(idle, columns["last_close"], columns[name])
    return taken(columns, columns["close"] > 0)


def _decimals(symbol: str) -> int:
    if not symbol[2:].isdigit():
        return 3
    what = instrument(symbol)
    return securities.decimals_of(what.kind, what.market)


def date_of(names: list[str]) -> str | None:
    """The trade date (ISO) whose package has exactly these members (four without Beijing), None when it is
    none."""
    found = [MEMBER.fullmatch(name.lower()) for name in names]
    stamps = {match[2] for match in found if match is not None}
    if len(names) not in (4, 6) or not all(found) or len(stamps) != 1:
        return None
    try:
        return iso(20_000_000 + int(stamps.pop()))
    except ValueError:
        return None
