"""The data centre (`datacenter-web.../api/data/v1/get`): filter, order, columns and pages of any report.

A report is a name with the rows that it holds. HTTP 200 always; `code` 9201 for no rows, 9501 for a
report, column or filter that does not exist.
"""

import operator
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from simulated_market.eastmoney import bonds, corporate, envelope, f10_reports, macro
from simulated_market.eastmoney.columns import trade_market
from simulated_market.eastmoney.conditions import Clause, Conditions, Maker
from simulated_market.eastmoney.events import Events
from simulated_market.eastmoney.finance import FinanceReports
from simulated_market.eastmoney.hong_kong import HongKong
from simulated_market.eastmoney.layouts import whole_row
from simulated_market.eastmoney.markets import MarketRatios
from simulated_market.eastmoney.profiles import offers
from simulated_market.eastmoney.risk import RiskReports
from simulated_market.eastmoney.schedule import schedule_rows
from simulated_market.faults import Fault
from simulated_market.finance import FinanceBook
from simulated_market.margin import Margin
from simulated_market.memo import FactMemo
from simulated_market.shared_facts import Books
from simulated_market.wire import HttpRequest, Reply, Row, View, json_reply
from simulated_market.world.dates import stamp_of
from simulated_market.world.model import PRICE_UNIT

PAGE = 500
_MEMO_SIZE = 4
MOST_PAGES = 100
_CLAUSE = re.compile(r"\((\w+)\s*(=|!=|<=|>=|<|>|in)\s*(\"[^\"]*\"|'[^']*'|\([^()]*\)|[\w.-]+)\)")
_SETS = {"ALL", "HKF10_FN_MAININDICATOR"}
"""Names that mean every column of a report."""
_MARKETS = {"SH": "融资融券_沪证", "SZ": "融资融券_深证", "BJ": "融资融券_京证"}

_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

_OLDER = {
    "type": "reportName", "sty": "columns", "filter": "filter", "st": "sortColumns", "sr": "sortTypes",
    "p": "pageNumber", "ps": "pageSize",
}  # fmt: skip
"""Parameter of the older dialect -> of the newer one."""


class UnknownReportError(Exception):
    """A report, column or clause that the gateway does not know."""


class Reports:
    """Answers of the gateway. A report's rows are a function of the clauses, so that it may look at less
    than everything."""

    def __init__(self, finance: FinanceBook, books: Books | None = None) -> None:
        books = books or Books(finance=finance)
        self._memo: FactMemo[list[Row]] = FactMemo(_MEMO_SIZE)
        self._margin = books.margin
        self._reports: Mapping[str, Maker] = {
            "RPTA_WEB_RZRQ_GGMX": self._margin_rows,
            **FinanceReports(finance).makers,
            **corporate.reports(),
            "RPT_PUBLIC_BS_APPOIN": schedule_rows,
            "RPTA_APP_IPOAPPLY": offers,
            **MarketRatios(books.lines).reports(),
            **Events(books).reports(),
            **RiskReports(finance).reports(),
            "RPT_BOND_CB_LIST": bonds.terms,
            **HongKong(finance).reports(),
            **macro.reports(),
            **f10_reports.reports(),
        }

    def report(self, request: HttpRequest, view: View) -> Reply:
        """One page of a report."""
        return self._answer(request.params(), view)

    def older(self, request: HttpRequest, view: View) -> Reply:
        """One page of a report in the older dialect: the same rows under other names of the parameters. It
        answers only requests with the public token."""
        params = request.params()
        if not params.get("token"):
            return _plain(json_reply(envelope.no_report(9501, "token为空"), spaced=True))
        return self._answer({new: params[old] for old, new in _OLDER.items() if old in params}, view)

    def _answer(self, params: Mapping[str, str], view: View) -> Reply:
        try:
            if view.fault is not None and view.fault.kind == "unknown_report":
                _refuse(params.get("reportName", ""), view.fault)
            document = self._document(params, view)
        except UnknownReportError as error:
            document = envelope.no_report(9501, f"报表配置不存在,{error}")
        callback = params.get("callback")
        answer = json_reply(document, callback, "application/javascript; charset=UTF-8", end=");")
        return answer if callback else _plain(answer)

    def _document(self, params: Mapping[str, str], view: View) -> Row:
        make = self._reports.get(params.get("reportName", ""))
        if make is None:
            raise UnknownReportError(params.get("reportName", ""))
        conditions = _conditions(params.get("filter", ""))
        asked = ("reportName", "filter", "sortColumns", "sortTypes")
        rows = self._memo.of(
            view,
            (view.now, *(params.get(name, "") for name in asked)),
            lambda: _sorted([row for row in make(view, conditions) if _meets(row, conditions)], params),
        )
        if view.fault is not None and view.fault.kind == "untidy_rows":
            rows = _untidy(rows, view.fault)
        if not rows:
            return envelope.no_report(9201, "返回数据为空")
        count = len(rows)
        size = min(PAGE, max(1, int(params.get("pageSize", "50"))))
        page = max(1, int(params.get("pageNumber", "1")))
        shown = view.page(rows, size, page) if page <= MOST_PAGES else []
        names = params.get("columns", "ALL")
        data = [
            _chosen(params["reportName"], row, names) | _quoted(params.get("quoteColumns", ""), row, view)
            for row in shown
        ]
        pages = -(-count // size) if page <= MOST_PAGES else 0
        return envelope.report("508eafc3f7c1cd1b1b2e3a1f6d4b1a2c", data, pages=pages, count=count)

    def _margin_rows(self, view: View, conditions: Conditions) -> list[Row]:
        day = conditions.day("DATE")
        if day is not None:
            return [margin_row(one) for one in self._margin.of_date(view, day)]
        asked = conditions.named(view.world.securities(view.now), "SCODE")
        return [margin_row(one) for security in asked for one in self._margin.of_security(view, security)]


def _plain(answer: Reply) -> Reply:
    """The data centre sends its JSON as plain text."""
    return replace(answer, content_type="text/plain; charset=UTF-8")


def _refuse(report: str, fault: Fault) -> None:
    if fault.args.get("report", report) == report:
        raise UnknownReportError(report)


def _untidy(rows: Sequence[Row], fault: Fault) -> list[Row]:
    """Some rows twice, some with an empty figure: which ones follows from what they hold and from `day`, so
    that the figure is there on another day. The count of the report is that of its rows."""
    every, day = int(fault.args.get("every", 40)), fault.args.get("day", 0)
    changed: list[Row] = []
    for row in rows:
        draw = zlib.crc32(f"{day} {row}".encode())
        figures = [name for name, value in row.items() if isinstance(value, int | float)]
        if draw % every == 1 and figures:
            changed.append(row | {figures[draw // every % len(figures)]: None})
        else:
            changed += [row] * (2 if draw % every == 0 else 1)
    return changed


def margin_row(one: Margin) -> Row:
    """RPTA_WEB_RZRQ_GGMX: RQYE is money, RQYL shares, RZYEZB percent of the float cap."""
    return {
        "DATE": stamp_of(one.date), "MARKET": _MARKETS[one.security.market], "SCODE": one.security.code,
        "SECNAME": one.name, "RZYE": one.rzye, "RQYL": one.rqyl, "RZRQYE": one.rzrqye, "RQYE": one.rqye,
        "RQMCL": one.rqmcl, "RZRQYECZ": round(one.rzye - one.rqye, 2), "RZMRE": one.rzmre,
        "SZ": one.float_cap, "RZYEZB": round(one.rzye / one.float_cap * 100, 6) if one.float_cap else None,
        "RZCHE": one.rzche, "RZJME": one.rzmre - one.rzche, "RQCHL": one.rqchl,
        "RQJMG": one.rqmcl - one.rqchl, "SPJ": one.close, "ZDF": one.change_pct,
        "TRADE_MARKET_CODE": trade_market(one.security),
    }  # fmt: skip


def _conditions(text: str) -> Conditions:
    clauses: list[Clause] = []
    text, at = text.strip(), 0
    while at < len(text):
        found = _CLAUSE.match(text, at)
        if found is None:
            raise UnknownReportError(text[at : at + 40])
        name, how, value = found.groups()
        values = value[1:-1].split(",") if how == "in" else [value]
        clauses.append((name, how, [one.strip().strip("\"'") for one in values]))
        # Between clauses there may be blanks and line breaks.
        at = found.end() + len(text[found.end() :]) - len(text[found.end() :].lstrip())
    return Conditions(clauses)


def _meets(row: Row, conditions: Conditions) -> bool:
    return all(_holds(row, clause) for clause in conditions)


def _holds(row: Row, clause: Clause) -> bool:
    name, how, values = clause
    if name not in row:
        raise UnknownReportError(name)
    if isinstance(row[name], int | float) and how in _NUMBERS:
        return _NUMBERS[how](row[name], float(values[0]))
    held = str(row[name])
    if held.endswith(" 00:00:00"):
        held = held[:10]
        values = [value[:10] for value in values]
    first = values[0]
    if how in {"=", "in"}:
        return held in values
    if how == "!=":
        return held != first
    return {"<": held < first, "<=": held <= first, ">": held > first, ">=": held >= first}[how]


def _sorted(rows: list[Row], params: Mapping[str, str]) -> list[Row]:
    names = [name for name in params.get("sortColumns", "").split(",") if name]
    ways = params.get("sortTypes", "").split(",")
    for name, way in reversed(list(zip(names, ways, strict=False))):
        if rows and name not in rows[0]:
            raise UnknownReportError(name)
        rows = sorted(rows, key=lambda row, by=name: (row[by] is not None, row[by]), reverse=way == "-1")  # type: ignore[misc]
    return rows


def _quoted(asked: str, row: Row, view: View) -> Row:
    """Current price and change of a row's security, as `quoteColumns` asks for them
    (`f2~01~SECURITY_CODE~CLOSE_PRICE`: field, kind, the column with the code, name): after the row's own."""
    found: Row = {}
    for part in filter(None, asked.split(",")):
        field, _, code, name = (*part.split("~"), "", "", "")[:4]
        held = str(row.get(code or "SECURITY_CODE", ""))
        security = (
            view.world.find(f"sh{held}") or view.world.find(f"sz{held}") or view.world.find(f"bj{held}")
        )
        quote = None if security is None else view.world.quote(security, view.now)
        known = quote is not None and quote.price > 0 and quote.preclose > 0
        if quote is None or not known or field not in {"f2", "f3"}:
            found[name or field] = "-"
        elif field == "f2":
            found[name or field] = quote.price / PRICE_UNIT
        else:
            found[name or field] = round((quote.price / quote.preclose - 1) * 100, 2)
    return {name: value for name, value in found.items() if name not in row}


def _chosen(report: str, row: Row, names: str) -> Row:
    if names in _SETS:
        return whole_row(report, row)
    missing = [name for name in names.split(",") if name not in row]
    if missing:
        raise UnknownReportError(missing[0])
    return {name: row[name] for name in names.split(",")}
