"""Columns that reports are asked for: all of them, or names that a recording or a public client has.

One wrong name in the list is answered with 9501 and costs the table. Of a report that is asked for whole a
missing column costs that column, no more.
"""

import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from resources.upstreams import eastmoney
from resources.upstreams.eastmoney.calls import hong_kong
from resources.upstreams.eastmoney.data_centre import EVERY_COLUMN, Dated, Report
from resources.upstreams.eastmoney.f10 import top_holders
from resources.upstreams.eastmoney.reports import economy, finance, holdings, markets

PAYLOADS = Path(__file__).parent / "payloads"
COMMON = {
    "since": "2026-01-05", "until": "2026-03-31", "codes": ("600519",), "code": "600519",
    "day": "2026-03-31", "period": "2026-03-31", "symbol": "sh600519", "periods": ("2026-03-31",),
    "part": "first", "keys": tuple(markets.MARKETS),
}  # fmt: skip
CHOICES: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("billboard", "side_report"): [{"side": "buy"}, {"side": "sell"}],
    ("economy", "economy_report"): [{"name": name} for name in economy.REPORTS],
    ("economy", "foreign_report"): [{"country": "USA", "series": ("EMG00000746",)}],
    ("finance", "statement_report"): [{"statement": name} for name in finance.STATEMENTS],
    ("hong_kong", "items_report"): [{"statement": name} for name in hong_kong.STATEMENTS],
    ("holdings", "holdings_report"): [{"org_type": one} for one in holdings.ORG_TYPES.values()],
    ("top_holders", "holders_report"): [{"kind": name} for name in top_holders.LISTS],
    ("top_holders", "holders_of_report"): [{"kind": name} for name in top_holders.LISTS],
}
"""Arguments that have a meaning of their own, by the function that takes them."""
KNOWN_ELSEWHERE: dict[str, tuple[str, str]] = {}
"""Report -> (names, which public client has them), in addition to akshare and the recordings."""


def declared() -> Iterator[tuple[str, Report]]:
    """Every report that the package declares, or that a function of it makes."""
    for module in pkgutil.walk_packages(eastmoney.__path__, f"{eastmoney.__name__}."):
        found = import_module(module.name)
        for name, dated in inspect.getmembers(found, lambda one: isinstance(one, Dated)):
            yield f"{module.name}.{name}", dated(COMMON["since"], COMMON["until"], COMMON["codes"])
        for name, make in inspect.getmembers(found, inspect.isfunction):
            reported = str(make.__annotations__.get("return"))
            if make.__module__ != found.__name__ or name.startswith("_"):
                continue
            if not re.search(r"\b(Report|Dated)\b", reported):
                continue
            for chosen in CHOICES.get((module.name.rpartition(".")[2], name), [{}]):
                known = {**COMMON, **chosen}
                made = make(**{one: known[one] for one in inspect.signature(make).parameters})
                for one in made if isinstance(made, tuple) else (made,):
                    report = one("2026-01-05", "2026-03-31") if isinstance(one, Dated) else one
                    yield f"{module.name}.{name}", report


@cache
def recorded() -> dict[str, set[str]]:
    """Report -> columns of its recorded rows."""
    found: dict[str, set[str]] = {}
    reported = {
        "em_dc_margin_600519.json": "RPTA_WEB_RZRQ_GGMX",
        "em_dc_billboard_600105.json": "RPT_DAILYBILLBOARD_DETAILSNEW",
        "em_dc_f10_mainfina_600519_2026q1.json": "RPT_F10_FINANCE_MAINFINADATA",
    }
    for file, report in reported.items():
        (row, *_) = json.loads((PAYLOADS / file).read_text())["result"]["data"]
        found[report] = set(row)
    actions = json.loads((PAYLOADS / "em_dc_corporate_actions_20260728.json").read_text())
    return found | {name: set().union(*rows) for name, rows in actions.items() if name.startswith("RPT")}


@cache
def sources() -> tuple[str, ...]:
    """The texts of the public client's modules."""
    akshare = pytest.importorskip("akshare")
    folder = Path(akshare.__file__).parent
    return tuple(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))


def witnessed(report: str, column: str) -> bool:
    if column in recorded().get(report, ()) or column in KNOWN_ELSEWHERE.get(report, ("", ""))[0].split():
        return True
    return any(report in text and re.search(rf"\b{column}\b", text) for text in sources())


def test_every_report_is_asked_for_whole_or_by_names_with_a_witness() -> None:
    reports = list(declared())
    names = {report.name for _, report in reports}
    written = {
        name
        for module in Path(eastmoney.__path__[0]).rglob("*.py")
        for name in re.findall(r'"(RPTA?_[A-Z0-9_]*[A-Z0-9])"', module.read_text(encoding="utf-8"))
    }
    unknown = {
        (report.name, column)
        for _, report in reports
        if report.columns != EVERY_COLUMN
        for column in report.columns
        if not witnessed(report.name, column)
    }

    # None is forgotten here; the main figures are asked for by the name of a set, in the old dialect.
    assert written - names == {"RPT_F10_FINANCE_MAINFINADATA"}
    assert len(names) > 40
    assert unknown == set()


@pytest.mark.parametrize(
    "name",
    "RPT_CSDC_LIST RPTA_APP_ACCUMDETAILS RPT_OPERATEDEPT_TRADE RPT_BILLBOARD_DAILYDETAILSBUY "
    "RPT_BILLBOARD_DAILYDETAILSSELL RPT_WEB_RESPREDICT RPT_VALUEMARKET RPT_BOND_CB_LIST "
    "RPT_MAINDATA_MAIN_POSITIONDETAILS RPTA_WEB_RZRQ_GGMX RPTA_WEB_GETHGLIST_NEW RPT_DMSK_TS_STOCKNEW "
    "RPT_MAIN_ORGHOLD RPT_MUTUAL_DEAL_HISTORY RPT_SHAREBONUS_DET RPT_VALUEINDUSTRY_DET".split(),
)
def test_reports_with_columns_that_no_public_client_reads_are_requested_whole(name: str) -> None:
    asked = {report.columns for _, report in declared() if report.name == name}

    assert asked == {EVERY_COLUMN}
