"""Limit pools of the topic portal: with a text for the reason of each limit-up.

Prices and money CNY, times Unix seconds as text, the success rate a fraction. Main boards, ChiNext and
STAR; Beijing is not among them. About a year back.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.symbols import instrument
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.parsing.bars import BAR_COLUMNS, check_bars, in_order
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import Page
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    present,
    price,
    required,
    string_of,
    whole,
)
from resources.upstreams.parsing.rows import may, needed, security_code, stripped, text_or_none, values_of

# -- last.js of the line host: unadjusted daily bars of one security, oldest first: a call of a function
# whose name holds the code, around rows that are joined by semicolons.
# A row is date, open, high, low, close, shares, CNY, turnover in percent and three fields that are not
# read.

SHORT, MOST_BARS = 140, 1800
_FIELDS = 8
_CALL = re.compile(rb"\Aquotebridge_v6_line_hs_(\d{6})_(\d\d)_last\w*\(")
_RAW = "00"


def bars_request(symbol: str, count: int) -> Request:
    """The newest `count` daily bars of a security of Shanghai or Shenzhen. Raises InputError."""
    what = instrument(symbol)
    if what.market not in {"SH", "SZ"} or what.kind == "index":
        raise InputError("symbol", f"{symbol} is no security of Shanghai or Shenzhen")
    if not 1 <= count <= MOST_BARS:
        raise InputError("count", f"{count} is not within 1..{MOST_BARS}")
    name = "last" if count <= SHORT else f"last{MOST_BARS}"
    return Request("ths.lines", "bars", f"/v6/line/hs_{what.code}/{_RAW}/{name}.js", label=what.symbol)


def parse_bars(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `BAR_COLUMNS`. PayloadError for another security, adjusted bars, or rows that cannot be."""
    what = instrument(symbol)
    call = _CALL.match(present(body))
    if call is None or call[1].decode() != what.code or call[2].decode() != _RAW:
        raise PayloadError(f"{symbol}: not its bars but {body[:40]!r}")
    text = string_of(object_of(json_of(body), f"{symbol} bars").get("data"), f"{symbol} bars")
    rows = [_row(line.split(","), what.dataset_code, symbol) for line in text.split(";") if line]
    rows = in_order(rows, "date", f"{symbol} bars")
    check_bars(rows, what, symbol)
    return frame(rows, BAR_COLUMNS)


def _row(fields: list[str], code: str, symbol: str) -> dict[str, Any]:
    if len(fields) < _FIELDS:
        raise PayloadError(f"{symbol}: a bar of {len(fields)} fields")
    day = iso_day(fields[0], f"{symbol} day")
    row: dict[str, Any] = {"code": code, "date": day}
    for at, name in enumerate(("open", "high", "low", "close"), start=1):
        row[name] = required(price(fields[at], f"{symbol} {day} {name}"), f"{symbol} {day} {name}")
    row["volume"] = required(amount(fields[5], f"{symbol} {day} volume"), f"{symbol} {day} volume")
    row["amount"] = amount(fields[6], f"{symbol} {day} amount")
    row["turnover_pct"] = number(fields[7], f"{symbol} {day} turnover")
    return row


PAGE = 200
MOST_PAGES = 10
POOLS: Mapping[str, str] = {"up": "limit_up_pool", "broken": "open_limit_pool", "down": "lower_limit_pool"}
LIMIT_COLUMNS: dict[str, str] = {
    **texts("trade_date pool code name"),
    **numbers("price change_pct turnover_pct float_market_cap seal_volume seal_fund break_times limit_days"),
    **numbers("seal_rate is_again"),
    **texts("first_seal_time last_seal_time board_type high_days zt_stat reason change_tag"),
}

_LIMITS_FIELDS = "199112,10,9001,330323,330324,330325,9002,330329,133971,133970,1968584,3475914,9003,9004"
_TAGS = {"FIRST_LIMIT", "LIMIT_BACK", "AGAIN_LIMIT"}
_SHANGHAI = timedelta(hours=8)


def limit_request(pool: str, day: str, page: int) -> Request:
    """One page of a pool. InputError for a pool that does not exist."""
    if pool not in POOLS:
        raise InputError("pool", f"{pool!r} is none of {', '.join(POOLS)}")
    params = pairs(
        f"page={page}&limit={PAGE}&field={_LIMITS_FIELDS}&filter=HS,GEM2STAR&order_field=330324&order_type=0"
        f"&date={day.replace('-', '')}"
    )
    path = f"/dataapi/limit_up/{POOLS[pool]}"
    return Request("ths.limits", "limit_pool", path, params, label=f"{pool} {day} page {page}")


def parse_limits(body: bytes, pool: str, day: str) -> Page:
    """Rows with the keys of `LIMIT_COLUMNS`. PayloadError for another date, more rows than the answer's own
    count; a row that fails validation is left out as rejected."""
    what = f"{POOLS[pool]}"
    data = answered(body, what)
    raws = list_of(data.get("info"), f"{what} info")
    paging = object_of(data.get("page"), f"{what} page")
    total = whole(number(paging.get("total"), f"{what} total"), f"{what} total")
    if len(raws) > min(total, PAGE):
        raise PayloadError(f"{what}: {len(raws)} rows of {total}")
    answered_for = iso_day(str(data.get("date")), f"{what} date")
    if raws and answered_for != day:
        raise PayloadError(f"{what}: answered for {answered_for}, asked was {day}")

    def read(raw: Any) -> dict[str, Any]:
        return _limits_row(object_of(raw, f"{what} row"), pool, day)

    return Page(accepted_rows(raws, read, what, named_by("code")), len(raws), total)


def limit_rows(rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """All rows of a pool as a frame, each stock once."""
    return once_each(frame(rows, LIMIT_COLUMNS), ["code"], what)


def answered(body: bytes, what: str) -> dict[str, Any]:
    """The `data` object behind `status_code` 0."""
    document = object_of(json_of(body), what)
    status = document.get("status_code")
    if type(status) is not int or status != 0:
        raise PayloadError(f"{what}: status {status!r} {str(document.get('status_msg'))[:60]}")
    return object_of(document.get("data"), f"{what} data")


_LIMITS = (
    *may(stripped, name="name"),
    *may(needed(number), change_rate="change_pct"),
    *may(number, turnover_rate="turnover_pct"),
    *may(partial(amount, scale=1e-4), currency_value="float_market_cap"),
    *may(amount, order_volume="seal_volume", order_amount="seal_fund"),
    *may(number, is_again_limit="is_again"),
    *may(text_or_none, limit_up_type="board_type", high_days="high_days", reason_type="reason"),
    *may(text_or_none, change_tag="change_tag"),
)


def _limits_row(raw: dict[str, Any], pool: str, day: str) -> dict[str, Any]:
    code = security_code(raw.get("code"), POOLS[pool])
    what = f"{POOLS[pool]} {code}"
    price = required(number(raw.get("latest"), f"{what} latest"), f"{what} latest")
    if price <= 0:
        raise PayloadError(f"{what} latest is not above zero: {price}")
    days, boards = _streak(raw.get("high_days_value"), what)
    rate = number(raw.get("limit_up_suc_rate"), f"{what} limit_up_suc_rate", digits=6)
    if not math.isnan(rate) and not 0 <= rate <= 1:
        raise PayloadError(f"{what} limit_up_suc_rate is no share: {rate}")
    figures = values_of(raw, _LIMITS, what)
    opened = number(raw.get("open_num"), f"{what} open_num")
    return {
        "trade_date": day,
        "pool": pool,
        "code": code,
        **figures,
        "price": price,
        "break_times": 0.0 if math.isnan(opened) else float(whole(opened, f"{what} open_num")),
        # A streak with a gap is not in the field: nothing says how many of its boards are in a row.
        "limit_days": float(boards) if boards and boards == days else math.nan,
        "seal_rate": rate,
        "first_seal_time": _clock(raw.get("first_limit_up_time"), day, f"{what} first_limit_up_time"),
        "last_seal_time": _clock(raw.get("last_limit_up_time"), day, f"{what} last_limit_up_time"),
        "zt_stat": f"{days}天{boards}板" if boards else None,
        "change_tag": figures["change_tag"] if figures["change_tag"] in _TAGS else None,
    }


def _streak(value: Any, what: str) -> tuple[int, int]:
    """(days, boards) of `(days << 16) | boards`; (0, 0) where there is none."""
    packed = number(value, f"{what} high_days_value")
    if math.isnan(packed):
        return 0, 0
    both = whole(packed, f"{what} high_days_value")
    days, boards = both >> 16, both & 0xFFFF
    if not 0 <= boards <= days <= 1000:
        raise PayloadError(f"{what} high_days_value: {boards} boards in {days} days")
    return days, boards


def _clock(value: Any, day: str, what: str) -> str | None:
    """HH:MM:SS, Shanghai, of Unix seconds, which must be on the date."""
    seconds = number(value, what)
    if math.isnan(seconds) or seconds == 0:
        return None
    if not 0 < seconds < 4e9:
        raise PayloadError(f"{what} is no time: {value!r}")
    when = datetime.fromtimestamp(whole(seconds, what), UTC).replace(tzinfo=None) + _SHANGHAI
    if when.date().isoformat() != day:
        raise PayloadError(f"{what} is of {when.date()}, asked was {day}")
    return f"{when:%H:%M:%S}"
