"""Ratios of stocks, of whole markets and of the industry boards, as the data centre has them by date."""

from collections.abc import Mapping

import numpy as np

from simulated_market.days import at, dates_between, day_bar
from simulated_market.eastmoney.columns import identity
from simulated_market.eastmoney.conditions import Conditions, Maker, NewestRows
from simulated_market.valuations import Lines
from simulated_market.wire import Row, View
from simulated_market.world.dates import stamp_of
from simulated_market.world.model import Security

_BOARDS_OF = {
    "000300": ("SH", "SZ", None),
    "000001": ("SH", None, "main"),
    "000688": ("SH", None, "star"),
    "399001": (None, "SZ", "main"),
    "399006": (None, "SZ", "gem"),
}
_HOUR = "15:30"


class MarketRatios:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def reports(self) -> Mapping[str, Maker]:
        """Rows by the name of the report."""
        return {
            "RPT_VALUEANALYSIS_DET": NewestRows().cached(_stocks),
            "RPT_VALUEMARKET": self._markets,
            "RPT_VALUEINDUSTRY_DET": self._boards,
        }

    def _markets(self, view: View, conditions: Conditions) -> list[Row]:
        """RPT_VALUEMARKET, by TRADE_MARKET_CODE; a date is out at 15:30."""
        keys = [value for name, _, values in conditions if name == "TRADE_MARKET_CODE" for value in values]
        days = dates_between(view, *conditions.between("TRADE_DATE"), _HOUR)
        rows = []
        for key in keys:
            members = _members(view, key)
            if not members or not days:
                continue
            dates = np.asarray(days, dtype=np.int64)
            pe = self._lines.pe_of_dates(view, members, dates)
            caps, counts = np.zeros(len(dates)), np.zeros(len(dates), dtype=np.int64)
            for one in members:
                line = self._lines.of(view, one)
                at = np.searchsorted(line.date, dates).clip(max=max(len(line.date) - 1, 0))
                known = line.date[at] == dates if len(line.date) else np.zeros(len(dates), dtype=bool)
                caps[known] += line.cap[at][known]
                counts[known] += 1
            for place, day in enumerate(days):
                rows.append(
                    {
                        "TRADE_MARKET_CODE": key,
                        "TRADE_DATE": stamp_of(day),
                        "CLOSE_PRICE": None,
                        "LISTING_ORG_NUM": int(counts[place]),
                        "TOTAL_SHARES": None,
                        "FREE_SHARES": None,
                        "TOTAL_MARKET_CAP": round(float(caps[place]), 2),
                        "FREE_MARKET_CAP": None,
                        "PE_TTM_AVG": None if np.isnan(pe[place]) else float(pe[place]),
                    }
                )
        return rows

    def _boards(self, view: View, conditions: Conditions) -> list[Row]:
        """RPT_VALUEINDUSTRY_DET of one date."""
        asked = conditions.day("TRADE_DATE")
        days = [] if asked is None else dates_between(view, asked, asked, _HOUR)
        rows = []
        for day in days:
            for board in view.world.boards(view.now):
                members = [one for one in map(view.world.find, board.members) if one is not None]
                totals = self._lines.totals(view, members, day) if board.kind == "industry" else None
                if totals is not None:
                    rows.append(
                        {
                            "BOARD_CODE": f"016{int(board.code.removeprefix('BK')) % 1000:03d}",
                            "BOARD_NAME": board.name,
                            "ORIGINALCODE": board.code.removeprefix("BK").lstrip("0"),
                            "TRADE_DATE": stamp_of(day),
                            "PE_TTM": totals.pe,
                            "PE_LAR": totals.pe,
                            "PB_MRQ": totals.pb,
                            "PCF_OCF_TTM": None,
                            "PS_TTM": None,
                            "PEG_CAR": None,
                            "TOTAL_MARKET_CAP": round(totals.cap, 2),
                            "MARKET_CAP_VAG": round(totals.cap / totals.count, 2),
                            "NUM": totals.count,
                            "LOSS_COUNT": totals.count - len(totals.ratios),
                        }
                    )
        return rows


def _stocks(view: View, conditions: Conditions) -> list[Row]:
    """RPT_VALUEANALYSIS_DET, by TRADE_DATE and SECURITY_CODE; a date is out at 15:30."""
    days = dates_between(view, *conditions.between("TRADE_DATE"), _HOUR)
    codes = conditions.codes()
    listed = [one for one in view.world.securities(view.now) if one.kind == "stock"]
    asked = [one for one in listed if not codes or one.code in codes]
    return [row for one in asked for day in days if (row := _stock_row(view, one, day)) is not None]


def _stock_row(view: View, security: Security, day: int) -> Row | None:
    """Ratios as they were after the close of a date; None where the stock did not trade."""
    bar = day_bar(view, security, day)
    then = view.world.valuation(security, at(day, _HOUR))
    if bar is None or then is None or not then.total_shares:
        return None
    growth = None if not then.pe_ttm or not then.pe_static else (then.pe_static / then.pe_ttm - 1) * 100
    return {
        **identity(security, view.world.name(security, at(day, _HOUR)), code_first=True),
        "TRADE_DATE": stamp_of(day),
        "CLOSE_PRICE": bar.close,
        "CHANGE_RATE": round(bar.change_pct, 4),
        "TOTAL_MARKET_CAP": then.total_market_cap,
        "NOTLIMITED_MARKETCAP_A": then.float_market_cap,
        "TOTAL_SHARES": then.total_shares,
        "FREE_SHARES_A": then.float_shares,
        "PE_TTM": then.pe_ttm,
        "PE_LAR": then.pe_static,
        "PB_MRQ": then.pb,
        "PEG_CAR": round(then.pe_ttm / growth, 6) if then.pe_ttm and growth else None,
        "PCF_OCF_TTM": None if then.ps_ttm is None else round(then.ps_ttm * 6.5, 6),
        "PS_TTM": then.ps_ttm,
    }


def _members(view: View, key: str) -> list[Security]:
    chosen = _BOARDS_OF.get(key)
    if chosen is None:
        return []
    first, second, board = chosen
    return [
        one
        for one in view.world.securities(view.now)
        if one.kind == "stock" and one.market in {first, second} and board in {None, one.board}
    ]
