"""Which securities there are, and whether bars are of the one that was asked for.

The terminal's list is the universe. While it is away, what is stored of it stands in, with the portal's list.
"""

import logging
from typing import TYPE_CHECKING

from core.errors import PayloadError, Unavailable, UpstreamError
from core.market.securities import board_of, sec_type_of

if TYPE_CHECKING:
    import pandas as pd

    from resources.upstreams.fetch_context import FetchContext

log = logging.getLogger(__name__)
MARKETS = ("sz", "sh", "bj")
HELD_TYPES = ("stock", "etf", "lof", "cb", "reit")
"""Security types that the per-code datasets hold; indices and B shares are not among them."""
_COLUMNS = ["code", "market", "symbol", "name", "sec_type", "board", "decimals", "pre_close"]
_BARS = "fusion_kline_daily"


def universe(ctx: "FetchContext") -> "pd.DataFrame":
    """`Desk.securities`: the terminal's list, else the substitute of it."""
    try:
        return ctx.terminal_list()
    except (UpstreamError, PayloadError, Unavailable) as error:
        if ctx.direct:
            raise
        known = substitute_list(ctx)
        if known is None:
            raise
        log.warning("the terminal's list is away (%s): %d securities from elsewhere", error, len(known))
        return known


def list_securities(ctx: "FetchContext") -> "pd.DataFrame":
    """`Desk.terminal_list`."""
    import pandas as pd

    lists = pd.concat([ctx.tdx.security_list(market) for market in MARKETS], ignore_index=True)
    held = _held(lists)
    if held.empty:
        raise PayloadError("the terminal's list holds no stock", source="tdx")
    return held


def substitute_list(ctx: "FetchContext") -> "pd.DataFrame | None":
    """Columns as `Desk.securities`, without decimals; None where neither has a stock. What was listed since
    the list was stored is in the portal's alone, which holds no funds and bonds and alone tells pre_close."""
    import pandas as pd

    portal = _portal(ctx)
    parts = [part for part in (_stored(ctx), portal) if len(part)]
    if not parts:
        return None
    known = pd.concat(parts, ignore_index=True).drop_duplicates("code").sort_values("code")
    known["symbol"] = known["market"].str.lower() + known["code"]
    known["pre_close"] = known["symbol"].map(portal.set_index("symbol")["pre_close"])
    known = _held(known)
    return known.reindex(columns=_COLUMNS).astype({"pre_close": float}) if len(known) else None


def _held(listed: "pd.DataFrame") -> "pd.DataFrame":
    """The securities of a list that the per-code datasets hold, with their types and boards."""
    places = list(zip(listed["code"], listed["market"], strict=True))
    listed["sec_type"] = [sec_type_of(code, market) for code, market in places]
    listed["board"] = [board_of(code, market) for code, market in places]
    return listed[listed["sec_type"].isin(list(HELD_TYPES))].reset_index(drop=True)


def _stored(ctx: "FetchContext") -> "pd.DataFrame":
    import pandas as pd

    columns = ("code", "market", "name", "list_status")
    try:
        rows = ctx.read("fusion_stock_master", columns=columns)
    except Unavailable:
        return pd.DataFrame(columns=list(columns))
    return rows[rows["market"].isin(["SH", "SZ", "BJ"]) & (rows["list_status"] != "D")]


def _portal(ctx: "FetchContext") -> "pd.DataFrame":
    import pandas as pd

    columns = ["symbol", "code", "market", "name", "pre_close"]
    try:
        return ctx.portal_list().rename(columns={"last_close": "pre_close"})[columns]
    except (UpstreamError, PayloadError, Unavailable):
        return pd.DataFrame(columns=columns)


def accept_bars(ctx: "FetchContext", symbol: str, bars: "pd.DataFrame") -> "pd.DataFrame":
    """The bars, when they can be of `symbol`; else PayloadError. The list's previous close must follow from
    their newest two closes (a listing day has none to follow from); where the stand-in of the list tells
    none, the stored close of the newest date must be theirs of that date."""
    import numpy as np

    from core.market.price_identity import explained

    closes = ctx.once("pre_closes", _list_pre_closes)
    if symbol not in closes:
        return _as_stored(ctx, symbol, bars)
    if len(bars) < 2:
        return bars
    newest = bars["close"].to_numpy(dtype=float)[-2:]
    if not explained(np.full(2, closes[symbol]), newest).any():
        raise PayloadError(
            f"bars of {symbol} close at {newest[0]:g} and {newest[1]:g}, "
            f"the list says {closes[symbol]:g}: another instrument?"
        )
    return bars


def _as_stored(ctx: "FetchContext", symbol: str, bars: "pd.DataFrame") -> "pd.DataFrame":
    """The bars, unless they close otherwise on the newest stored date. Both are unadjusted and of one date,
    so that no event lies between them."""
    import numpy as np

    from core.market.price_identity import same

    stored = ctx.once("stored_closes", _stored_closes)
    day, close = stored.get(symbol[2:], ("", 0.0))
    reported = bars.loc[bars["date"] == day, "close"].to_numpy(dtype=float)
    if len(reported) and not same(reported, np.full(len(reported), close)).all():
        raise PayloadError(
            f"bars of {symbol} close at {reported[0]:g} on {day}, stored is {close:g}: another instrument?"
        )
    return bars


def _list_pre_closes(ctx: "FetchContext") -> dict[str, float]:
    """Previous closes of the security list by symbol, where it tells one."""
    listed = ctx.securities()
    known = listed[listed["pre_close"] > 0]
    return dict(zip(known["symbol"].tolist(), known["pre_close"].tolist(), strict=True))


def _stored_closes(ctx: "FetchContext") -> dict[str, tuple[str, float]]:
    """(date, close) of the newest stored date before today, by code; nothing while the terminal's list is
    there, which would have told."""
    if ctx.securities()["decimals"].notna().any():
        return {}
    try:
        day = ctx.latest(_BARS, "date", ctx.today)
        if day is None:
            return {}
        rows = ctx.read(_BARS, columns=("code", "close"), since=day, until=day)
    except Unavailable:
        return {}
    rows = rows[rows["close"] > 0]
    return {str(code): (day, float(close)) for code, close in zip(rows["code"], rows["close"], strict=True)}
