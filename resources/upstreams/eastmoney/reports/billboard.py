"""The exchanges' billboard (龙虎榜), two reports of the data centre: listings and seats.

A row of the listings is one security, date and reason; sums of several reasons overlap and must not be
added. A seat is known by its side and rank alone: anonymous institutions share one name and code.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import Dated
from resources.upstreams.eastmoney.quotes.pools import amount_pct
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import AMT, amount, number, price, promised, required, whole
from resources.upstreams.parsing.rows import Table, code_of, day_of, may, must, text_of, text_or_none

SEAT_COLUMNS: dict[str, str] = {
    **texts("date code reason side branch_code branch_name"),
    **numbers("rank_no buy_amt sell_amt net_amt buy_ratio_pct sell_ratio_pct"),
}
"""`side` buy or sell; sums 10k CNY, shares of the turnover percent."""
_SIDES = {"0": "buy", "1": "sell"}
_WAN = 1e-4
_CNY = 1.0
_RATIO = 0.01

_SUMS = ("BILLBOARD_NET_AMT", "BILLBOARD_BUY_AMT", "BILLBOARD_SELL_AMT")
_SEAT_PROMISED = ("SECURITY_CODE", "TRADE_DATE", "EXPLANATION", "TRADE_DIRECTION", "RANK", "OPERATEDEPT_NAME",
                  "BUY_AMT_REAL", "SELL_AMT_REAL")  # fmt: skip
_SIDE_PROMISED = ("SECURITY_CODE", "TRADE_DATE", "EXPLANATION", "OPERATEDEPT_NAME", "BUY", "SELL")
SIDE_REPORTS = {
    "buy": ("RPT_BILLBOARD_DAILYDETAILSBUY", "BUY"),
    "sell": ("RPT_BILLBOARD_DAILYDETAILSSELL", "SELL"),
}
"""Side -> the report of its seats, and the column that ranks them."""


def _wan(value: float) -> float:
    return round(value * _WAN, AMT) + 0.0


def _check_listing(row: dict[str, Any], what: str) -> None:
    net, bought, sold, deal = (row[name] for name in ("net_buy", "buy_amt", "sell_amt", "deal_amt"))
    if abs(bought - sold - net) > _CNY:
        raise PayloadError(f"{what}: BILLBOARD_BUY_AMT - BILLBOARD_SELL_AMT is not BILLBOARD_NET_AMT")
    if abs(bought + sold - deal) > _CNY:
        raise PayloadError(f"{what}: BILLBOARD_BUY_AMT + BILLBOARD_SELL_AMT is not BILLBOARD_DEAL_AMT")
    for column, part, field in (("net_ratio_pct", net, "DEAL_NET_RATIO"),
                              ("deal_ratio_pct", deal, "DEAL_AMOUNT_RATIO")):  # fmt: skip
        meant = part / row["amount"] * 100 if row["amount"] > 0 else math.nan
        if abs(row[column] - meant) > _RATIO + 0.001 * abs(meant):
            raise PayloadError(f"{what}: {field} {row[column]} is not {meant:.4f} percent of ACCUM_AMOUNT")
    row |= {"net_buy": _wan(net), "buy_amt": _wan(bought), "sell_amt": _wan(sold), "deal_amt": _wan(deal)}


LISTINGS = Table(
    "billboard",
    must(code_of, SECURITY_CODE="code"),
    must(day_of, TRADE_DATE="date"),
    must(text_of, EXPLANATION="reason"),
    may(text_or_none, SECURITY_NAME_ABBR="name"),
    may(price, CLOSE_PRICE="close"),
    may(number, CHANGE_RATE="change_pct"),
    may(partial(number, digits=AMT), BILLBOARD_NET_AMT="net_buy"),
    may(amount, BILLBOARD_BUY_AMT="buy_amt", BILLBOARD_SELL_AMT="sell_amt", BILLBOARD_DEAL_AMT="deal_amt"),
    may(amount, ACCUM_AMOUNT="amount"),
    may(number, DEAL_NET_RATIO="net_ratio_pct", DEAL_AMOUNT_RATIO="deal_ratio_pct"),
    may(amount_pct, TURNOVERRATE="turnover"),
    may(number, D1_CLOSE_ADJCHRATE="next_change_pct", D5_CLOSE_ADJCHRATE="d5_change_pct"),
    may(number, D10_CLOSE_ADJCHRATE="d10_change_pct"),
    check=_check_listing,
    some=_SUMS,
)
"""`amount` CNY, the other sums 10k CNY, ratios and changes percent."""


listings_report = Dated(
    "RPT_DAILYBILLBOARD_DETAILSNEW",
    LISTINGS,
    "TRADE_DATE",
    "SECURITY_CODE -TRADE_DATE EXPLANATION",
    "code date reason",
    by_name=True,
)


def side_report(side: str) -> Dated:
    """The seats of one side of the listings; the largest first."""
    name, by = SIDE_REPORTS[side]
    sort = f"SECURITY_CODE -TRADE_DATE EXPLANATION -{by} OPERATEDEPT_CODE"
    return Dated(name, partial(side_rows, side=side), "TRADE_DATE date", sort, " ".join(SEAT_COLUMNS))


def side_rows(rows: Sequence[Mapping[str, Any]], side: str) -> pd.DataFrame:
    """Columns `SEAT_COLUMNS` of a page of one side, without ranks: a listing may go on in the next page."""
    return frame([_side(row, side) for row in rows], SEAT_COLUMNS)


def ranked(rows: pd.DataFrame) -> pd.DataFrame:
    """All seats of one side with their ranks, which are their places."""
    place = rows.groupby(["date", "code", "reason", "side"], sort=False).cumcount()
    return rows.assign(rank_no=place.astype(float) + 1)


def seat_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `SEAT_COLUMNS`."""
    return frame([_seat(row) for row in rows], SEAT_COLUMNS)


seats_report = Dated(
    "RPT_OPERATEDEPT_TRADE",
    seat_rows,
    "TRADE_DATE date",
    "SECURITY_CODE -TRADE_DATE EXPLANATION TRADE_DIRECTION RANK",
    "code date reason side rank_no",
)


def _seat(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, _SEAT_PROMISED, "seats")
    code = code_of(row["SECURITY_CODE"], "seats")
    what = f"seats {code}"
    side = _SIDES.get(str(row["TRADE_DIRECTION"]))
    if side is None:
        raise PayloadError(f"{what}: TRADE_DIRECTION {row['TRADE_DIRECTION']!r}")
    rank = whole(number(row["RANK"], f"{what} RANK"), f"{what} RANK")
    if rank < 1:
        raise PayloadError(f"{what}: RANK {rank}")
    bought = amount(row.get("BUY_AMT_REAL"), f"{what} BUY_AMT_REAL")
    sold = amount(row.get("SELL_AMT_REAL"), f"{what} SELL_AMT_REAL")
    return _sums(row, what, made={"side": side, "rank_no": rank}, bought=bought, sold=sold)


def _side(row: Mapping[str, Any], side: str) -> dict[str, Any]:
    promised(row, _SIDE_PROMISED, "seats")
    what = f"seats {code_of(row['SECURITY_CODE'], 'seats')}"
    fields = {**row, "BUY_RATIO": row.get("TOTAL_BUYRIO"), "SELL_RATIO": row.get("TOTAL_SELLRIO")}
    bought = amount(row["BUY"], f"{what} BUY")
    sold = amount(row["SELL"], f"{what} SELL")
    return _sums(fields, what, made={"side": side, "rank_no": math.nan}, bought=bought, sold=sold)


def _sums(
    row: Mapping[str, Any], what: str, *, made: dict[str, Any], bought: float, sold: float
) -> dict[str, Any]:
    """A seat with its sums, when they add up."""
    side = made["side"]
    net = number(row.get("NET"), f"{what} NET", digits=AMT)
    known = [value for value in (bought, -sold) if not math.isnan(value)]
    required(bought if side == "buy" else sold, f"{what} amount of the {side} side")
    if abs(sum(known) - net) > _CNY:
        raise PayloadError(f"{what}: bought - sold is not NET")
    return {
        "date": day_of(row["TRADE_DATE"], f"{what} TRADE_DATE"),
        "code": code_of(row["SECURITY_CODE"], "seats"),
        "reason": text_of(row["EXPLANATION"], f"{what} EXPLANATION"),
        **made,
        "branch_code": text_or_none(row.get("OPERATEDEPT_CODE"), f"{what} OPERATEDEPT_CODE"),
        "branch_name": text_of(row["OPERATEDEPT_NAME"], f"{what} OPERATEDEPT_NAME"),
        "buy_amt": _wan(bought),
        "sell_amt": _wan(sold),
        "net_amt": _wan(sum(known)),
        "buy_ratio_pct": number(row.get("BUY_RATIO"), f"{what} BUY_RATIO"),
        "sell_ratio_pct": number(row.get("SELL_RATIO"), f"{what} SELL_RATIO"),
    }
