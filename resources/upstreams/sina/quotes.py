"""hq.sinajs.cn snapshots: `var hq_str_<symbol>="f0,f1,...";` per code, GBK.

The record carries no code, so only the name of its variable identifies the security. Volumes are shares, but
lots of an index of Shanghai (Shenzhen's are shares); the unit of a convertible bond is not documented, and
its volume is left out.
"""

import math
import re
from collections.abc import Iterable, Sequence

import pandas as pd

from core.errors import PayloadError, Refused
from core.market.symbols import Instrument, instrument
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.frames import frame, numbers, texts

CODES_PER_CALL = 400
"""Half of what the site answers in one call."""
QUOTE_COLUMNS: dict[str, str] = {
    **texts("symbol code market sec_type name trade_date quote_time"),
    "is_suspended": "b",
    # CNY, index points
    **numbers("price open high low last_close bid1 ask1"),
    # shares, CNY
    **numbers("volume amount bid1_vol ask1_vol"),
}
_STATEMENT = re.compile(r'var hq_str_((?:sh|sz|bj)[0-9]{6})="([^"]*)";\s*')
_LEAST = 32
"""Fields up to the time; the status behind them is missing from old records."""
_THROTTLED = "拒绝访问"
_SUSPENDED = "03"


def quotes_request(symbols: Sequence[str]) -> Request:
    """Snapshots of mainland symbols. Raises InputError for others."""
    names = ",".join(instrument(symbol).symbol for symbol in symbols)
    return Request("sina.quote", "quote", f"/list={names}", label=names[:120])


def parse_quotes(body: bytes, symbols: Sequence[str]) -> pd.DataFrame:
    """Columns `QUOTE_COLUMNS`; a symbol that the site does not know has no row. PayloadError unless each
    symbol was answered exactly once; Refused for the page that throttled clients are shown."""
    answered = statements(body, _STATEMENT, symbols, "quotes")
    filled = [(symbol, record) for symbol, record in answered.items() if record]
    rows = accepted_rows(filled, lambda one: _quote(instrument(one[0]), one[1]), "quotes", lambda one: one[0])
    return frame(rows, QUOTE_COLUMNS)


def statements(body: bytes, form: re.Pattern[str], symbols: Iterable[str], what: str) -> dict[str, str]:
    """Symbol -> its record. PayloadError unless each was answered exactly once; Refused for the page that
    throttled clients are shown."""
    text = payload.text_of(body, "gb18030")
    if text.startswith(_THROTTLED):
        raise Refused("the site denies access")
    answered: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = form.match(text, at)
        if match is None:
            raise PayloadError(f"{what}: no statement at {text[at : at + 40]!r}")
        if match[1] in answered:
            raise PayloadError(f"{what}: {match[1]} appears twice in the answer")
        answered[match[1]] = match[2]
        at = match.end()
    asked = set(symbols)
    if set(answered) != asked:
        odd = sorted(set(answered) ^ asked)
        raise PayloadError(f"{what}: asked for {len(asked)}, answered {len(answered)}; {odd[0]} differs")
    return answered


def _quote(what: Instrument, record: str) -> dict[str, object]:
    fields = record.split(",")
    label = what.symbol
    if len(fields) < _LEAST:
        raise PayloadError(f"{label}: {len(fields)} fields")
    name = fields[0].strip()
    if not name:
        raise PayloadError(f"{label}: no name")
    day = payload.iso_day(fields[30], f"{label} date")
    time = _clock(fields[31], label)
    open_, last_close, last, high, low = (
        payload.nothing_to_missing(payload.price(fields[place], f"{label} field {place}"))
        for place in (1, 2, 3, 4, 5)
    )
    volume = payload.amount(fields[8], f"{label} volume", scale=100.0 if _in_lots(what) else 1.0)
    money = payload.amount(fields[9], f"{label} amount")
    payload.between_extremes(last, low, high, label)
    if what.kind not in {"index", "cb"}:
        payload.check_unit(shares=volume, amount_cny=money, low=low, high=high, what=label)
    status = fields[32].strip() if len(fields) > _LEAST else ""
    index = what.kind == "index"
    return {
        "symbol": label,
        "code": what.dataset_code,
        "market": what.market,
        "sec_type": what.kind,
        "name": name,
        "trade_date": day,
        "quote_time": f"{day} {time}",
        "is_suspended": status == _SUSPENDED or (not status and math.isnan(last)),
        "price": last,
        "open": open_,
        "high": high,
        "low": low,
        "last_close": last_close,
        "volume": math.nan if what.kind == "cb" else volume,
        "amount": money,
        "bid1": math.nan if index else payload.nothing_to_missing(payload.price(fields[11], f"{label} bid1")),
        "bid1_vol": math.nan if index else payload.amount(fields[10], f"{label} bid1_vol"),
        "ask1": math.nan if index else payload.nothing_to_missing(payload.price(fields[21], f"{label} ask1")),
        "ask1_vol": math.nan if index else payload.amount(fields[20], f"{label} ask1_vol"),
    }


def _in_lots(what: Instrument) -> bool:
    return what.kind == "index" and what.market == "SH"


def _clock(text: str, label: str) -> str:
    """HH:MM:SS."""
    return payload.moment(f"2000-01-01 {text}", "%Y-%m-%d %H:%M:%S", f"{label} time").strftime("%H:%M:%S")
