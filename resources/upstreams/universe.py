"""Which securities there are while the terminal's list is away: the stored list and the portal's."""

from typing import TYPE_CHECKING

from platform_assets.compute.market_rules import board_of, sec_type_of
from resources.errors import PayloadError, Unavailable, UpstreamError

if TYPE_CHECKING:
    import pandas as pd

    from resources.upstreams.desk import Desk

HELD_TYPES = ("stock", "etf", "lof", "cb", "reit")
"""Security types that the per-code datasets hold; indices and B shares are not among them."""
_COLUMNS = ["code", "market", "symbol", "name", "sec_type", "board", "decimals", "pre_close"]


def substitute_list(desk: "Desk") -> "pd.DataFrame | None":
    """Columns as `Desk.securities`, without decimals and pre_close; None where neither has a stock. What
    was listed since the list was stored is in the portal's alone, which holds no funds and bonds."""
    import pandas as pd

    parts = [part for part in (_stored(desk), _portal(desk)) if len(part)]
    if not parts:
        return None
    known = pd.concat(parts, ignore_index=True).drop_duplicates("code").sort_values("code")
    known["symbol"] = known["market"].str.lower() + known["code"]
    known["sec_type"] = [sec_type_of(c, m) for c, m in zip(known["code"], known["market"], strict=True)]
    known["board"] = [board_of(c, m) for c, m in zip(known["code"], known["market"], strict=True)]
    known = known[known["sec_type"].isin(list(HELD_TYPES))].reset_index(drop=True)
    return known.reindex(columns=_COLUMNS).astype({"pre_close": float}) if len(known) else None


def _stored(desk: "Desk") -> "pd.DataFrame":
    import pandas as pd

    columns = ("code", "market", "name", "list_status")
    try:
        rows = desk.read("fusion_stock_master", columns=columns)
    except Unavailable:
        return pd.DataFrame(columns=list(columns))
    return rows[rows["market"].isin(["SH", "SZ", "BJ"]) & (rows["list_status"] != "D")]


def _portal(desk: "Desk") -> "pd.DataFrame":
    import pandas as pd

    try:
        return desk.portal_list()[["code", "market", "name"]]
    except (UpstreamError, PayloadError, Unavailable):
        return pd.DataFrame(columns=["code", "market", "name"])
