"""Recorded answers in forms that an upstream may give them tomorrow: the same rows, or one column less.

The forms are made from the recording's own JSON: an unknown key more, keys in another order, numbers as text
and texts as numbers, and each key missing in turn.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.errors import PayloadError
from resources.upstreams.cninfo.announcements import Query, parse_announcements, parse_orgs
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.f10 import pages
from resources.upstreams.eastmoney.quotes import lists, pools, series
from resources.upstreams.eastmoney.reports import billboard, bonds, capital, companies, trading
from resources.upstreams.parsing.payload import json_of
from resources.upstreams.parsing.texts import notice_frame
from resources.upstreams.sina import flows
from resources.upstreams.sina import quotes as sina_quotes
from resources.upstreams.tencent import bars
from resources.upstreams.tencent import quotes as tencent_quotes

HERE = Path(__file__).parent
Rows = Callable[[bytes], pd.DataFrame]


def recorded(place: str) -> Any:
    return json_of((HERE / place).read_bytes())


def _report(name: str, read: Any) -> Rows:
    return lambda body: data_centre.parse_report(body, what=name, read=read).rows


def _pool() -> Any:
    """The recording holds 11 of 54 rows; its own rows, whole."""
    document = recorded("eastmoney/payloads/em_ztpool_20240923.jsonp")
    document["data"]["tc"] = len(document["data"]["pool"])
    return document


def _actions(report: str) -> Any:
    rows = recorded("eastmoney/payloads/em_dc_corporate_actions_20260728.json")[report]
    result = {"pages": 1, "data": rows, "count": len(rows)}
    return {"result": result, "success": True, "message": "ok", "code": 0}


NOTICES = Query("2026-01-01", "2026-09-30", "600519,gssh0600519")
ULIST_SYMBOLS = ["sh600000", "sz000001", "sh000001", "sz300750", "sh601398"]
CASES: dict[str, tuple[Any, Rows]] = {
    "quotes": (
        recorded("eastmoney/payloads/em_ulist_fltt2_20260930.json"),
        lambda body: lists.parse_ulist(body, ULIST_SYMBOLS),
    ),
    "boards": (
        recorded("eastmoney/payloads/em_clist_sector_fflow.json"),
        lambda body: lists.parse_page(body, "boards", lambda rows: lists.board_rows(rows, "industry")).rows,
    ),
    "bars": (
        recorded("eastmoney/payloads/em_kline_601872_20241218_1231.json"),
        lambda body: series.parse_kline(body, "sh601872", klt=101),
    ),
    "money flow": (
        recorded("eastmoney/payloads/em_fflow_daykline_600519.json"),
        lambda body: series.parse_flow_days(body, "1.600519", "600519"),
    ),
    "margin": (
        recorded("eastmoney/payloads/em_dc_margin_600519.json"),
        _report("margin", trading.MARGIN.frame),
    ),
    "billboard": (
        recorded("eastmoney/payloads/em_dc_billboard_600105.json"),
        _report("billboard", billboard.LISTINGS.frame),
    ),
    "releases": (_actions("RPT_LIFT_STAGE"), _report("releases", capital.LOCKUPS.frame)),
    "dividends": (_actions("RPT_SHAREBONUS_DET"), _report("dividends", companies.dividend_rows)),
    "offers": (_actions("RPTA_APP_IPOAPPLY"), _report("offers", companies.OFFERS.frame)),
    "bond terms": (_actions("RPT_BOND_CB_LIST"), _report("terms", bonds.TERMS.frame)),
    "limit pool": (_pool(), lambda body: pools.parse_pool(body, "up", "2024-09-23")),
    "main indicators": (
        recorded("eastmoney/payloads/em_dc_f10_mainfina_600519_2026q1.json"),
        lambda body: pages.parse_main(body, "sh600519").rows,
    ),
    "money flow of the second site": (
        recorded("sina/payloads/sina_moneyflow_001216.json"),
        lambda body: flows.parse_flow(body, "sz001216"),
    ),
    "bars of the second site": (
        recorded("tencent/payloads/tencent_newfqkline_sh600000_202609.json"),
        lambda body: bars.parse_bars(body, "sh600000", period="day"),
    ),
    "notices": (
        recorded("cninfo/payloads/cninfo_hisannouncement_600519.json"),
        lambda body: notice_frame(parse_announcements(body, NOTICES).rows, "x"),
    ),
    "ids of companies": ({"stockList": recorded("cninfo/payloads/cninfo_stocklist_row.json")}, parse_orgs),
}
AS_RECEIVED = {"payload", "indicators"}
"""Columns that keep the row as it came: they differ where the row does."""


def body(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def changed(
    document: Any, of_row: Callable[[dict[str, Any]], dict[str, Any]], *, inside: bool = False
) -> Any:
    """The document with every row (an object in a list) put through `of_row`."""
    if isinstance(document, list):
        return [changed(one, of_row, inside=True) for one in document]
    if not isinstance(document, dict):
        return document
    inner = {key: changed(value, of_row) for key, value in document.items()}
    return of_row(inner) if inside else inner


def rows_of(document: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def note(row: dict[str, Any]) -> dict[str, Any]:
        found.append(row)
        return row

    changed(document, note)
    return found


def as_text(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        for key, value in row.items()
    }


def as_number(row: dict[str, Any]) -> dict[str, Any]:
    """Texts with a decimal point: a code or a date is none."""
    return {
        key: float(value) if isinstance(value, str) and _is_decimal(value) else value
        for key, value in row.items()
    }


def _is_decimal(text: str) -> bool:
    whole, point, rest = text.lstrip("-").partition(".")
    return bool(point) and whole.isdigit() and rest.isdigit()


def same(found: pd.DataFrame, expected: pd.DataFrame, *, without: frozenset[str] = frozenset()) -> None:
    columns = [name for name in expected.columns if name not in AS_RECEIVED | without]
    pd.testing.assert_frame_equal(found[columns], expected[columns], check_dtype=False)


@pytest.mark.parametrize("case", CASES)
def test_a_key_more_and_another_order_change_nothing(case: str) -> None:
    document, parse = CASES[case]
    expected = parse(body(document))
    assert len(expected)

    same(parse(body(changed(document, lambda row: {"ZZ_NEW": {"x": 1}, **row}))), expected)
    same(parse(body(changed(document, lambda row: dict(reversed(row.items()))))), expected)
    if isinstance(document, dict):
        same(parse(body({"zz_new": [1], **dict(reversed(document.items()))})), expected)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", [as_text, as_number])
def test_numbers_as_text_and_texts_as_numbers_are_the_same_figures(
    case: str, form: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    document, parse = CASES[case]

    same(parse(body(changed(document, form))), parse(body(document)))


ARRAYS = {"bars of the second site"}
"""Rows are arrays: none of their keys can be missing."""
NAMED_BY = {("notices", "secName"): frozenset({"title"})}
"""(case, key) -> columns that are cleaned with that key's value."""


@pytest.mark.parametrize("case", [case for case in CASES if rows_of(CASES[case][0]) and case not in ARRAYS])
def test_a_missing_key_costs_its_own_column_or_is_named(case: str) -> None:
    """No missing key moves a figure into another column or makes one up."""
    document, parse = CASES[case]
    expected = parse(body(document))
    optional = 0
    for key in {name: None for row in rows_of(document) for name in row}:
        shorter = changed(document, lambda row, key=key: {k: v for k, v in row.items() if k != key})  # type: ignore[misc]
        try:
            found = parse(body(shorter))
        except PayloadError:
            continue  # a key without which nothing can be accepted
        optional += 1
        assert len(found) == len(expected), key
        for column in set(expected.columns) - AS_RECEIVED - NAMED_BY.get((case, key), frozenset()):
            lost = found[column].isna() & expected[column].notna()
            kept = found[column][~lost]
            pd.testing.assert_series_equal(
                kept, expected[column][~lost], check_dtype=False, obj=f"{key}: {column}"
            )
    assert optional


RECORDS: dict[str, tuple[str, bytes, Rows]] = {
    "tencent/payloads/tencent_quote_600519_hk00700_20260522.txt": (
        '";', b"~7.25", lambda body: tencent_quotes.parse_quotes(body, ["sh600519", "hk00700"]),
    ),
    "sina/payloads/sina_hq_index_20260821.txt": (
        '";', b",7.25", lambda body: sina_quotes.parse_quotes(body, ["sh000001", "sh000852"]),
    ),
}  # fmt: skip
"""Recorded texts without keys: the end of a record, and what one field more there looks like."""


@pytest.mark.parametrize("place", RECORDS)
def test_a_field_more_at_the_end_of_a_record_changes_nothing(place: str) -> None:
    end, more, parse = RECORDS[place]
    reported = (HERE / place).read_text(encoding="utf-8").encode("gb18030")
    longer = reported.replace(end.encode(), more + end.encode())
    assert longer != reported

    same(parse(longer), parse(reported))
