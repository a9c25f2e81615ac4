"""Reports of the data centre about the economy, and the daily levels of exchange rates."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from simulated_market import connect_days, economy
from simulated_market.days import dates_between
from simulated_market.eastmoney.conditions import Conditions, Maker
from simulated_market.eastmoney.envelope import bars_reply
from simulated_market.eastmoney.monthly import MONTHLY, rows_of
from simulated_market.economy import Line, released
from simulated_market.wire import HttpRequest, Reply, Row, View
from simulated_market.world.dates import date_of, stamp_of

_FIRST = 20160101
"""The first date of the daily lines."""
_TENORS = {"001": "on", "101": "1w", "102": "2w", "201": "1m", "203": "3m", "206": "6m", "209": "9m",
           "301": "1y"}  # fmt: skip
_CHINA = {"EMM00588704": 2, "EMM00166462": 5, "EMM00166466": 10, "EMM00166469": 30}
_AMERICA = {"EMG00001306": 2, "EMG00001308": 5, "EMG00001310": 10, "EMG00001312": 30}
_RESERVES = (
    (date(2023, 9, 14), date(2023, 9, 15), 10.75, 10.5), (date(2024, 1, 24), date(2024, 2, 5), 10.5, 10.0),
    (date(2024, 9, 24), date(2024, 9, 27), 10.0, 9.5), (date(2025, 5, 7), date(2025, 5, 15), 9.5, 9.0),
)  # fmt: skip
_KINDS = {"hgt": "001", "sgt": "003", "north": "005", "ggt_sh": "002", "ggt_sz": "004"}
LEVELS = {
    "133.USDCNH": ("USDCNH", 133, "美元兑离岸人民币", Line("usdcnh", 7.1, 0.15, 500, 0.01)),
    "100.UDI": ("UDI", 100, "美元指数", Line("udi", 100.0, 5.0, 700, 0.3)),
}


_FOREIGN = {
    "EMG00000733": ("美国CPI年率", Line("uscpi", 2.9, 0.6, jitter=0.1)),
    "EMG00001039": ("美国失业率", Line("usjobs", 4.2, 0.4, jitter=0.05)),
    "EMG00002790": ("美国ISM制造业PMI", Line("ism", 49.5, 2.0, jitter=0.4)),
}


def reports() -> Mapping[str, Maker]:
    """Rows of the reports, by the name of each."""
    monthly = {name: rows_of(name, report) for name, report in MONTHLY.items()}
    return {
        **monthly,
        "RPT_ECONOMY_DEPOSIT_RESERVE": _reserves,
        "RPTA_WEB_RATE": _prime_rates,
        "RPTA_WEB_TREASURYYIELD": _yields,
        "RPT_IMP_INTRESTRATEN": _interbank,
        "RPT_ECONOMICVALUE_USA": _foreign,
        "RPT_MUTUAL_DEAL_HISTORY": _connect_days,
    }


def _since(conditions: Conditions, column: str) -> date:
    return date_of(max(conditions.since(column), _FIRST))


def _yields(view: View, conditions: Conditions) -> list[Row]:
    """Both countries by date; each has its own holidays, on which its side is null."""
    since, today = _since(conditions, "SOLAR_DATE"), view.now.date()
    china = set(economy.china_dates(view, since, today, economy.CURVE_OUT))
    america = {day for day in economy.weekdays(since, today) if economy.next_day(day, view)}
    return [yields_row(day, day in china, day in america) for day in sorted(china | america)]


def yields_row(day: date, china: bool, america: bool) -> Row:
    def side(names: Mapping[str, int], country: str, known: bool) -> Row:
        return {
            name: economy.government_yield(country, years, day) if known else None
            for name, years in names.items()
        }

    left, right = side(_CHINA, "cn", china), side(_AMERICA, "us", america)
    return {
        "SOLAR_DATE": f"{day} 00:00:00",
        **left,
        "EMM01276014": round(left["EMM00166466"] - left["EMM00588704"], 4) if china else None,
        "EMM00000024": None,
        **right,
        "EMG01339436": round(right["EMG00001310"] - right["EMG00001306"], 4) if america else None,
        "EMG00159635": None,
    }


def _interbank(view: View, conditions: Conditions) -> list[Row]:
    since = _since(conditions, "REPORT_DATE")
    days = economy.china_dates(view, since, view.now.date(), economy.SHIBOR_OUT)
    return [
        {
            "REPORT_DATE": f"{day} 00:00:00",
            "MARKET_CODE": "001",
            "MARKET": "上海银行同业拆借市场",
            "CURRENCY_CODE": "CNY",
            "CURRENCY": "人民币",
            "INDICATOR_ID": number,
            "IR_RATE": economy.interbank_rate(tenor, day),
            "CHANGE_RATE": round(
                (economy.interbank_rate(tenor, day) - economy.interbank_rate(tenor, day - timedelta(days=1)))
                * 100,
                2,
            ),
        }
        for day in days
        for number, tenor in _TENORS.items()
    ]


def _prime_rates(view: View, conditions: Conditions) -> list[Row]:
    rates: list[tuple[date, float | None, float | None]] = [
        (day, *economy.prime_rates(day)) for day in economy.prime_days(view)
    ]
    # Before 2019 there was a benchmark alone.
    return [
        {"TRADE_DATE": f"{day} 00:00:00", "LPR1Y": one, "LPR5Y": five, "RATE_1": 4.35, "RATE_2": 4.9}
        for day, one, five in [*rates, (date(2015, 10, 24), None, None)]
    ]


def _reserves(view: View, conditions: Conditions) -> list[Row]:
    return [
        {
            "PUBLISH_DATE": f"{published} 00:00:00",
            "TRADE_DATE": f"{day} 00:00:00",
            "INTEREST_RATE_BB": before,
            "INTEREST_RATE_BA": after,
            "CHANGE_RATE_B": round(after - before, 2),
            "INTEREST_RATE_SB": round(before - 3, 2),
            "INTEREST_RATE_SA": round(after - 3, 2),
            "CHANGE_RATE_S": round(after - before, 2),
        }
        for published, day, before, after in _RESERVES
        if published <= view.now.date()
    ]


def _foreign(view: View, conditions: Conditions) -> list[Row]:
    """One row a month, also of the next release, which has no value yet."""
    rows = []
    for place, month in economy.months(view.now.date()):
        out = released(month, 12, "20:30")
        for number, (name, line) in _FOREIGN.items():
            is_out = out <= view.now
            rows.append(
                {
                    "COUNTRY": "美国",
                    "INDICATOR_ID": number,
                    "INDICATOR_NAME": name,
                    "REPORT_DATE": f"{month} 00:00:00",
                    "REPORT_DATE_CH": f"{month.year}年{month.month:02d}月",
                    "PUBLISH_DATE": f"{out.date()} 00:00:00",
                    "VALUE": round(line.at(place), 1) if is_out else None,
                    "PRE_VALUE": round(line.at(place - 1), 1),
                }
            )
    return rows


def _connect_days(view: View, conditions: Conditions) -> list[Row]:
    """Millions; of northbound nothing but turnover and deals since the disclosure changed."""
    rows: list[Row] = []
    for day in dates_between(view, *conditions.between("TRADE_DATE"), "18:00"):
        channels = connect_days.of_date(view, day)
        north = [one for one in channels if one.northbound]
        shown = [*channels, *([connect_days.summed(north)] if north else [])]
        rows += [connect_row(one, day) for one in shown]
    return rows


_UNKNOWN = (
    "LEAD_STOCKS_CODE", "LEAD_STOCKS_NAME", "LS_CHANGE_RATE", "INDEX_CLOSE_PRICE", "INDEX_CHANGE_RATE",
    "HOLD_MARKET_CAP", "QUOTA_BALANCE_TEXT",
)  # fmt: skip


def connect_row(one: connect_days.Channel, day: int) -> Row:
    hidden = one.northbound and day >= connect_days.UNDISCLOSED_FROM
    return {
        "MUTUAL_TYPE": _KINDS[one.name],
        "TRADE_DATE": stamp_of(day),
        "FUND_INFLOW": None if hidden else one.net,
        "NET_DEAL_AMT": None if hidden else one.net,
        "BUY_AMT": None if hidden else one.bought,
        "SELL_AMT": None if hidden else one.sold,
        "QUOTA_BALANCE": None if hidden else one.quota_left,
        "ACCUM_DEAL_AMT": None,
        "DEAL_AMT": one.turnover,
        "DEAL_NUM": one.deals,
        **dict.fromkeys(_UNKNOWN),
    }


def levels(request: HttpRequest, view: View) -> Reply | None:
    """Daily bars of an exchange rate or of the dollar index; None for any other secid."""
    params = request.params()
    level = LEVELS.get(params.get("secid", ""))
    if level is None or params.get("klt") != "101":
        return None
    code, market, name, line = level
    today = view.now.date()
    since = max(date(2016, 1, 1), _day(params.get("beg", "0"), date(2016, 1, 1)))
    until = min(today, _day(params.get("end", "20500101"), today))
    days = [day for day in economy.weekdays(since, until) if economy.next_day(day, view)][::-1]
    lines = [_level(line, day) for day in days]
    return bars_reply(request, {"code": code, "market": market, "name": name}, lines, decimals=4)


def _level(line: Line, day: date) -> str:
    close, before = line.at(day.toordinal()), line.at(day.toordinal() - 1)
    high, low = max(close, before) * 1.001, min(close, before) * 0.999
    change = close - before
    prices = ",".join(f"{value:.4f}" for value in (before, close, high, low))
    percent = f"{(high - low) / before * 100:.2f},{change / before * 100:.2f},{change:.4f}"
    return f"{day},{prices},0,0.00,{percent},0.00"


def _day(text: str, default: date) -> date:
    return datetime.strptime(text, "%Y%m%d").date() if len(text) == 8 and text.isdigit() else default
