"""Reports of the data centre about events: the billboard and its seats, block trades, releases of shares."""

from collections.abc import Mapping, Sequence
from functools import partial

from simulated_market import lockups
from simulated_market.billboard import PUBLISHED, Listing, Seat
from simulated_market.block_trades import Deal
from simulated_market.branches import branch_code
from simulated_market.days import DayBar, dates_between, day_bar
from simulated_market.eastmoney.columns import identity
from simulated_market.eastmoney.conditions import Conditions, Maker
from simulated_market.shared_facts import Books
from simulated_market.wire import Row, View
from simulated_market.world.dates import date_of, stamp_of
from simulated_market.world.model import Security

WAN = 1e4
_TYPES = {"stock": ("058001001", "EQA", 1), "b": ("058001002", "EQB", 2), "etf": ("055001001", "FDO", 3),
          "cb": ("060003001", "BD0", 4)}  # fmt: skip
_BOARDS = {"main": {"SH": "sh", "SZ": "sz"}, "gem": {"SZ": "cyb"}, "star": {"SH": "kcb"}, "bj": {"BJ": "bj"}}


class Events:
    """Rows of the reports, by the name of each."""

    def __init__(self, books: Books | None = None) -> None:
        books = books or Books()
        self._billboard = books.billboard
        self._deals = books.block_trades

    def reports(self) -> Mapping[str, Maker]:
        return {
            "RPT_DAILYBILLBOARD_DETAILSNEW": self._listings,
            "RPT_OPERATEDEPT_TRADE": self._seats,
            "RPT_BILLBOARD_DAILYDETAILSBUY": partial(self._side, "buy"),
            "RPT_BILLBOARD_DAILYDETAILSSELL": partial(self._side, "sell"),
            "RPT_DATA_BLOCKTRADE": self._block_trades,
            "RPT_LIFT_STAGE": _releases,
        }

    def _of_dates(self, view: View, conditions: Conditions) -> list[Listing]:
        days = dates_between(view, *conditions.between("TRADE_DATE"), PUBLISHED)
        return [one for day in days for one in self._billboard.of_date(view, day)]

    def _listings(self, view: View, conditions: Conditions) -> list[Row]:
        return [listing_row(one, view) for one in self._of_dates(view, conditions)]

    def _seats(self, view: View, conditions: Conditions) -> list[Row]:
        return [
            seat_row(one, seat, side, rank)
            for one in self._of_dates(view, conditions)
            for side, seats in (("0", one.buyers), ("1", one.sellers))
            for rank, seat in enumerate(seats, start=1)
        ]

    def _side(self, side: str, view: View, conditions: Conditions) -> list[Row]:
        return [
            side_row(one, seat)
            for one in self._of_dates(view, conditions)
            for seat in (one.buyers if side == "buy" else one.sellers)
        ]

    def _block_trades(self, view: View, conditions: Conditions) -> list[Row]:
        days = dates_between(view, *conditions.between("TRADE_DATE"), PUBLISHED)
        return [
            deal_row(one, view, rank)
            for day in days
            for rank, one in enumerate(self._deals.of_date(view, day), start=1)
        ]


def _releases(view: View, conditions: Conditions) -> list[Row]:
    since, until = map(date_of, conditions.between("FREE_DATE"))
    return [release_row(one) for one in lockups.releases(view, since, until)]


def listing_row(one: Listing, view: View) -> Row:
    """RPT_DAILYBILLBOARD_DETAILSNEW: CNY and percent; a change is null until its session has closed."""
    net, deal = round(one.bought - one.sold, 2), round(one.bought + one.sold, 2)
    _, floating = view.world.shares(one.security, view.now)
    return {
        **_identity(one.security, one.name), "TRADE_DATE": stamp_of(one.date),
        "EXPLAIN": f"{one.institutions}家机构买入" if one.institutions else "普通席位买入",
        "EXPLANATION": one.reason, "CHANGE_TYPE": one.kind,
        "CLOSE_PRICE": one.bar.close, "CHANGE_RATE": round(one.bar.change_pct, 4),
        "BILLBOARD_NET_AMT": net, "BILLBOARD_BUY_AMT": one.bought, "BILLBOARD_SELL_AMT": one.sold,
        "BILLBOARD_DEAL_AMT": deal, "ACCUM_AMOUNT": one.accumulated,
        "DEAL_NET_RATIO": round(net / one.accumulated * 100, 6) if one.accumulated else None,
        "DEAL_AMOUNT_RATIO": round(deal / one.accumulated * 100, 6) if one.accumulated else None,
        "TURNOVERRATE": round(one.bar.turnover_pct, 4), "FREE_MARKET_CAP": round(floating * one.bar.close, 2),
        **_after(view, one.security, one.date, "D{}_CLOSE_ADJCHRATE", (1, 2, 5, 10)),
    }  # fmt: skip


def seat_row(one: Listing, seat: Seat, side: str, rank: int) -> Row:
    """RPT_OPERATEDEPT_TRADE: TRADE_DIRECTION 0 the largest buyers, 1 the largest sellers."""
    return {
        **_identity(one.security, one.name), "TRADE_DATE": stamp_of(one.date), "EXPLANATION": one.reason,
        "CHANGE_TYPE": one.kind, "STATISTICS_DAYS": one.days, "TRADE_DIRECTION": side, "RANK": rank,
        "OPERATEDEPT_CODE": seat.code, "OPERATEDEPT_NAME": seat.name, "BUY_AMT_REAL": seat.bought,
        "SELL_AMT_REAL": seat.sold, "NET": round((seat.bought or 0.0) - (seat.sold or 0.0), 2),
        "BUY_RATIO": _share(seat.bought, one.accumulated), "SELL_RATIO": _share(seat.sold, one.accumulated),
    }  # fmt: skip


def side_row(one: Listing, seat: Seat) -> Row:
    """RPT_BILLBOARD_DAILYDETAILSBUY and ...SELL: both sums of a seat, without its rank."""
    bought, sold = seat.bought or 0.0, seat.sold or 0.0
    return {
        **_identity(one.security, one.name),
        "TRADE_DATE": stamp_of(one.date),
        "OPERATEDEPT_CODE": seat.code,
        "OPERATEDEPT_NAME": seat.name,
        "EXPLANATION": one.reason,
        "CHANGE_RATE": round(one.bar.change_pct, 4),
        "CLOSE_PRICE": one.bar.close,
        "ACCUM_AMOUNT": one.accumulated,
        "BUY": bought,
        "SELL": sold,
        "NET": round(bought - sold, 2),
        "TOTAL_BUYRIO": _share(bought, one.accumulated),
        "TOTAL_SELLRIO": _share(sold, one.accumulated),
        "CHANGE_TYPE": one.kind,
    }


def deal_row(one: Deal, view: View, rank: int) -> Row:
    """RPT_DATA_BLOCKTRADE: shares and CNY; PREMIUM_RATIO is a fraction."""
    kind, shown, number = _TYPES[one.security.kind]
    _, floating = view.world.shares(one.security, view.now)
    return {
        **_identity(one.security, one.name),
        "SECURITY_TYPE_CODE": kind,
        "SECURITY_TYPE": shown,
        "SECURITY_TYPE_WEB": number,
        "TRADE_DATE": stamp_of(one.date),
        "TRADE_UNIT": "股",
        "DEAL_PRICE": one.price,
        "CLOSE_PRICE": one.bar.close,
        "PREMIUM_RATIO": round(one.price / one.bar.close - 1, 6),
        "DEAL_VOLUME": one.volume,
        "DEAL_AMT": one.amount,
        "TURNOVER_RATE": round(one.volume / floating * 100, 6) if floating else None,
        "BUYER_NAME": one.buyer,
        "SELLER_NAME": one.seller,
        "BUYER_CODE": branch_code(one.buyer),
        "SELLER_CODE": branch_code(one.seller),
        "CHANGE_RATE": round(one.bar.change_pct, 4),
        **_after(view, one.security, one.date, "CHANGE_RATE_{}DAYS", (1, 5, 10, 20)),
        "DAILY_RANK": rank,
    }


def release_row(one: lockups.Release) -> Row:
    """RPT_LIFT_STAGE: 10k shares and 10k CNY; ratios are fractions."""
    shares = round(one.shares / WAN, 4)
    return {
        **_identity(one.security, one.name),
        "FREE_DATE": f"{one.date.isoformat()} 00:00:00",
        "CURRENT_FREE_SHARES": shares,
        "ABLE_FREE_SHARES": round(one.able / WAN, 4),
        "LIFT_MARKET_CAP": round(shares * one.price, 6),
        "FREE_SHARES_TYPE": one.kind,
        "FREE_SHARES": round((one.float_before + one.shares) / WAN, 4),
        "NON_FREE_SHARES": round(max(0, one.total_shares - one.float_before - one.shares) / WAN, 4),
        "FREE_RATIO": round(one.shares / one.float_before, 12) if one.float_before else None,
        "TOTAL_RATIO": round(one.shares / one.total_shares, 12),
        "MARKET_TYPE": _BOARDS.get(one.security.board, {}).get(one.security.market, "zq"),
        "NEW": one.price,
        "BATCH_HOLDER_NUM": one.holders,
        "B20_ADJCHRATE": None,
        "A20_ADJCHRATE": None,
    }


def _identity(security: Security, name: str) -> Row:
    return {**identity(security, name), "SECURITY_TYPE_CODE": _TYPES[security.kind][0]}


def _after(view: View, security: Security, day: int, name: str, steps: Sequence[int]) -> Row:
    bar: DayBar | None = day_bar(view, security, day)
    return {name.format(step): bar.change_after(step, view.now) if bar else None for step in steps}


def _share(value: float | None, whole: float) -> float | None:
    return None if value is None or not whole else round(value / whole * 100, 6)
