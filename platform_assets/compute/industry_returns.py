"""Industry indices carried on from their closes by the returns of their members. Pure pandas."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

LEVELS = ("l1", "l2", "l3")
_YI = 1e8
_WAN_PER_YI = 1e4


def next_rows(stocks: pd.DataFrame, closes: Mapping[str, float]) -> pd.DataFrame:
    """One row per industry of which `closes` knows the close before: code, name, level, close, change_pct,
    volume_yi, amount_yi, float_market_cap_yi, amount_share_pct, pe, pb, dividend_yield. The change is that
    of the members with a return and a cap, weighted by float cap.

    `stocks` of one trade date: change_pct, volume (shares), amount (CNY), float_market_cap and
    total_market_cap (10,000 CNY), pe_ttm, pb, dividend_yield, sw_l1, sw_l1_name .. sw_l3_name."""
    whole = float(stocks["amount"].astype(float).sum())
    rows = []
    for level in LEVELS:
        for (code, name), members in stocks.groupby([f"sw_{level}", f"sw_{level}_name"]):
            change = _mean(members, "change_pct", "float_market_cap")
            if code in closes and not np.isnan(change):
                amount = float(members["amount"].astype(float).sum())
                rows.append(
                    {
                        "code": code,
                        "name": name,
                        "level": level,
                        "close": closes[code] * (1 + change / 100),
                        "change_pct": change,
                        "volume_yi": float(members["volume"].astype(float).sum()) / _YI,
                        "amount_yi": amount / _YI,
                        "float_market_cap_yi": float(members["float_market_cap"].sum()) / _WAN_PER_YI,
                        "amount_share_pct": amount / whole * 100 if whole > 0 else np.nan,
                        "pe": _ratio(members, "pe_ttm"),
                        "pb": _ratio(members, "pb"),
                        "dividend_yield": _mean(members, "dividend_yield", "total_market_cap"),
                    }
                )
    names = ["code", "name", "level", "close"]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=names)


def _ratio(members: pd.DataFrame, column: str) -> float:
    """Sum of the caps / sum of what they are divided by; NaN where that is not above zero."""
    ratio, cap = members[column].astype(float), members["total_market_cap"].astype(float)
    known = ratio.notna() & (ratio != 0) & (cap > 0)
    below = float((cap[known] / ratio[known]).sum())
    return float(cap[known].sum()) / below if below > 0 else float("nan")


def _mean(members: pd.DataFrame, column: str, caps: str) -> float:
    value, cap = members[column].astype(float), members[caps].astype(float)
    known = value.notna() & (cap > 0)
    return float((value[known] * cap[known]).sum() / cap[known].sum()) if known.any() else float("nan")
