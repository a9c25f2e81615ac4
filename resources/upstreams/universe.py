"""Which securities there are, and whether bars are of the one that was asked for.

The terminal's list is the universe. While it cannot be read, the stored security list replaces it, joined
with the portal's list.
"""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import pandas as pd

from core.errors import PayloadError, Unavailable, UpstreamError
from core.market.securities import board_of, sec_type_of
from core.price_identity import explained, same

if TYPE_CHECKING:
    from resources.upstreams.tdx.client import TdxClient

log = logging.getLogger(__name__)
_END_OF_DAY = "23:59:59.999999"
MARKETS = ("sz", "sh", "bj")
HELD_TYPES = ("stock", "etf", "lof", "cb", "reit")
"""Security types that the per-code datasets hold; indices and B shares are not among them."""
_COLUMNS = ["code", "market", "symbol", "name", "sec_type", "board", "decimals", "pre_close"]
_BARS = "fusion_kline_daily"

T = TypeVar("T")


class UniverseReads(Protocol):
    """What these functions read through: the part of `FetchContext` that they use."""

    direct: bool

    @property
    def tdx(self) -> "TdxClient": ...

    @property
    def today(self) -> str: ...

    def securities(self) -> pd.DataFrame: ...

    def terminal_list(self) -> pd.DataFrame: ...

    def portal_list(self) -> pd.DataFrame: ...

    def read(
        self,
        table: str,
        *,
        columns: Sequence[str],
        codes: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        as_of: str | None = None,
    ) -> pd.DataFrame: ...

    def latest(self, table: str, column: str, before: str) -> str | None: ...

    def once(self, key: object, make: "Callable[[UniverseReads], T]") -> T: ...


def universe(ctx: UniverseReads) -> pd.DataFrame:
    """`FetchContext.securities`: the terminal's list, or its substitute while the terminal cannot be read."""
    try:
        return ctx.terminal_list()
    except (UpstreamError, PayloadError, Unavailable) as error:
        if ctx.direct:
            raise
        known = substitute_list(ctx)
        if known is None:
            raise
        log.warning(
            "the terminal's list cannot be read (%s): %d securities from its substitutes", error, len(known)
        )
        return known


def list_securities(ctx: UniverseReads) -> pd.DataFrame:
    """`FetchContext.terminal_list`: the terminal's lists of all markets, joined."""
    lists = pd.concat([ctx.tdx.security_list(market) for market in MARKETS], ignore_index=True)
    held = _held(lists)
    if held.empty:
        raise PayloadError("the terminal's list holds no stock", source="tdx")
    return held


def substitute_list(ctx: UniverseReads) -> pd.DataFrame | None:
    """The stored list joined with the portal's; None where neither has a stock. Columns as
    `FetchContext.securities`, without decimals. Securities listed since the list was stored are in the
    portal's list alone; that one has no funds and bonds, and it alone states pre_close."""
    portal = _portal(ctx)
    lists = [one for one in (_stored(ctx), portal) if len(one)]
    if not lists:
        return None
    known = pd.concat(lists, ignore_index=True).drop_duplicates("code").sort_values("code")
    known["symbol"] = known["market"].str.lower() + known["code"]
    known["pre_close"] = known["symbol"].map(portal.set_index("symbol")["pre_close"])
    known = _held(known)
    return known.reindex(columns=_COLUMNS).astype({"pre_close": float}) if len(known) else None


def _held(listed: pd.DataFrame) -> pd.DataFrame:
    """The securities of a list that the per-code datasets hold, with their types and boards."""
    places = list(zip(listed["code"], listed["market"], strict=True))
    listed["sec_type"] = [sec_type_of(code, market) for code, market in places]
    listed["board"] = [board_of(code, market) for code, market in places]
    return listed[listed["sec_type"].isin(list(HELD_TYPES))].reset_index(drop=True)


def _stored(ctx: UniverseReads) -> pd.DataFrame:
    columns = ("code", "market", "name", "list_status")
    try:
        # Whom to ask, as the terminal's list says it: of now, whatever dates they are asked about.
        rows = ctx.read("fusion_stock_master", columns=columns, as_of=f"{ctx.today} {_END_OF_DAY}")
    except Unavailable:
        return pd.DataFrame(columns=list(columns))
    return rows[rows["market"].isin(["SH", "SZ", "BJ"]) & ~rows["list_status"].isin(["D", "R"])]


def _portal(ctx: UniverseReads) -> pd.DataFrame:
    columns = ["symbol", "code", "market", "name", "pre_close"]
    try:
        return ctx.portal_list().rename(columns={"last_close": "pre_close"})[columns]
    except (UpstreamError, PayloadError, Unavailable):
        return pd.DataFrame(columns=columns)


def accept_bars(ctx: UniverseReads, symbol: str, bars: pd.DataFrame) -> pd.DataFrame:
    """The bars when they agree with the known closes of `symbol`, else PayloadError. The previous
    close of the list must follow from their newest two closes (a listing day has none to follow from); where
    the substitute of the list states none, their close of the newest stored date must equal the stored one.
    """
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


def _as_stored(ctx: UniverseReads, symbol: str, bars: pd.DataFrame) -> pd.DataFrame:
    """The bars; PayloadError when they close otherwise on the newest stored date. Both closes are unadjusted
    and of one date, so that no event comes between them."""
    stored = ctx.once("stored_closes", _stored_closes)
    day, close = stored.get(symbol[2:], ("", 0.0))
    closes = bars.loc[bars["date"] == day, "close"].to_numpy(dtype=float)
    if len(closes) and not same(closes, np.full(len(closes), close)).all():
        raise PayloadError(
            f"bars of {symbol} close at {closes[0]:g} on {day}, stored is {close:g}: another instrument?"
        )
    return bars


def _list_pre_closes(ctx: UniverseReads) -> dict[str, float]:
    """Previous closes of the security list by symbol, where it states one."""
    listed = ctx.securities()
    known = listed[listed["pre_close"] > 0]
    return dict(zip(known["symbol"].tolist(), known["pre_close"].tolist(), strict=True))


def _stored_closes(ctx: UniverseReads) -> dict[str, tuple[str, float]]:
    """(date, close) of the newest stored date before today, by code; {} while the terminal's list can be
    read, which states the previous closes itself."""
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
