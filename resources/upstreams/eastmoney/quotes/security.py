"""stock/get: one security with its order book. Book volumes and f47 are lots, caps CNY."""

import math

import pandas as pd

from core.errors import PayloadError
from core.market.symbols import instrument
from resources.transport.request import Request, pairs
from resources.upstreams.eastmoney.quotes import fields
from resources.upstreams.eastmoney.quotes.envelope import PUBLIC_TOKEN, data_of
from resources.upstreams.parsing.frames import frame, texts
from resources.upstreams.parsing.payload import check_unit, string_of
from resources.upstreams.parsing.rows import kinds_of, may

SECURITY_FIELDS = (
    *may(
        fields.read_price, f43="price", f46="open", f44="high", f45="low", f60="last_close", f71="avg_price"
    ),
    *may(fields.read_price, f51="limit_up", f52="limit_down", f92="bvps"),
    *may(fields.read_ratio, f169="change_amt", f170="change_pct", f171="amplitude_pct", f168="turnover_pct"),
    *may(
        fields.read_ratio, f50="volume_ratio", f162="pe_dynamic", f163="pe_static", f164="pe_ttm", f167="pb"
    ),
    *may(fields.read_ratio, f55="eps", f173="roe", f188="debt_ratio"),
    *may(fields.read_lots, f47="volume", f49="outer_volume", f161="inner_volume"),
    *may(fields.read_tally, f48="amount"),
    *may(fields.read_wan, f116="total_market_cap", f117="float_market_cap"),
    *may(fields.read_count, f84="total_shares", f85="float_shares"),
    *may(fields.read_day, f189="list_date"),
    *may(fields.read_moment, f86="quote_time"),
    *may(fields.read_text, f127="industry", f128="region", f129="concepts"),
    # Both sides of the book run from level 5 to level 1.
    *may(fields.read_price, f19="bid1", f17="bid2", f15="bid3", f13="bid4", f11="bid5"),
    *may(fields.read_lots, f20="bid1_vol", f18="bid2_vol", f16="bid3_vol", f14="bid4_vol", f12="bid5_vol"),
    *may(fields.read_price, f39="ask1", f37="ask2", f35="ask3", f33="ask4", f31="ask5"),
    *may(fields.read_lots, f40="ask1_vol", f38="ask2_vol", f36="ask3_vol", f34="ask4_vol", f32="ask5_vol"),
)
SECURITY_COLUMNS = (
    texts("symbol code market sec_type name") | kinds_of(SECURITY_FIELDS) | {"is_suspended": "b"}
)


def security_request(symbol: str) -> Request:
    what = instrument(symbol)
    names = ",".join(["f57", "f58", "f107", *(field.wire for field in SECURITY_FIELDS)])
    return Request(
        "eastmoney.push2",
        "stock_get",
        "/api/qt/stock/get",
        pairs(f"fltt=2&invt=2&secid={what.secid}&fields={names}&ut={PUBLIC_TOKEN}"),
        label=what.symbol,
    )


def parse_security(body: bytes, symbol: str) -> pd.DataFrame:
    """At most one row; columns `SECURITY_COLUMNS`. An unknown symbol has none."""
    what = instrument(symbol)
    data = data_of(body, f"stock/get {symbol}")
    if data is None:
        return frame([], SECURITY_COLUMNS)
    market = data.get("f107")
    if data.get("f57") != what.code or type(market) is not int or market != int(what.secid[0]):
        raise PayloadError(f"stock/get: asked for {what.secid}, got {market}.{data.get('f57')}")
    values = fields.values_of(data, SECURITY_FIELDS, symbol)
    if what.kind in {"stock", "etf", "lof", "b"}:
        check_unit(
            shares=values.get("volume", math.nan),
            amount_cny=values.get("amount", math.nan),
            low=values.get("low", math.nan),
            high=values.get("high", math.nan),
            what=f"stock/get {symbol}",
        )
    row = {
        "symbol": symbol,
        "code": what.dataset_code,
        "market": what.market,
        "sec_type": what.kind,
        "name": string_of(data.get("f58"), "name").strip(),
        "is_suspended": data.get("f43") == "-",
        **values,
    }
    return frame([row], SECURITY_COLUMNS)
