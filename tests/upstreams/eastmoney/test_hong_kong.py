"""Hong Kong at the portal: figures, items, plans as texts, pairs. From the documents alone."""

import json
import math
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError, Permanent
from resources.upstreams.eastmoney import data_centre
from resources.upstreams.eastmoney.calls import hong_kong
from resources.upstreams.eastmoney.quotes import lists
from tests.upstreams.eastmoney.test_reports import body, client
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

HEAD = {"SECUCODE": "00700.HK", "SECURITY_CODE": "00700", "SECURITY_NAME_ABBR": "腾讯控股",
        "REPORT_DATE": "2025-12-31 00:00:00", "DATE_TYPE_CODE": "001"}  # fmt: skip
FIGURES = HEAD | {
    "CURRENCY": "CNY", "OPERATE_INCOME": 7.5e11, "OPERATE_INCOME_YOY": 13.9, "HOLDER_PROFIT": 2.2e11,
    "HOLDER_PROFIT_YOY": 15.8, "BASIC_EPS": 24.1, "BPS": 121.2, "ROE_AVG": 21.3, "GROSS_PROFIT_RATIO": 56.2,
    "NET_PROFIT_RATIO": 30.1, "DEBT_ASSET_RATIO": 40.2,
}  # fmt: skip
ITEM = HEAD | {"STD_ITEM_CODE": "004001001", "STD_ITEM_NAME": "营业额", "AMOUNT": 7.5e11}
DIVIDEND = HEAD | {
    "NOTICE_DATE": "2026-03-18 00:00:00", "EX_DIVIDEND_DATE": "2026-05-15 00:00:00",
    "PLAN_EXPLAIN": "每股派港币4.5元(相当于人民币4.14元)",
}  # fmt: skip
PAIR = {"f2": 12.5, "f12": "01398", "f13": 116, "f14": "某银行", "f186": 13.8, "f188": 20.0, "f191": "601398",
        "f193": "某银行"}  # fmt: skip
READ = {
    "figures": (FIGURES, hong_kong.INDICATORS.frame),
    "items": (ITEM, hong_kong.ITEMS.frame),
    "dividend": (DIVIDEND, hong_kong.DIVIDENDS.frame),
    "profile": (HEAD | {"ORG_NAME": "某控股"}, hong_kong.PROFILE.frame),
}


def parsed(name: str, **changed: Any) -> dict[str, Any]:
    row, read = READ[name]
    found = data_centre.parse_report(body([row | changed], 1), what=name, read=read).rows.to_dict("records")
    return dict(found[0])


def pair(**changed: Any) -> dict[str, Any]:
    rows = lists.parse_page(page(PAIR | changed), "pairs", hong_kong.PAIRS.frame).rows
    return dict(rows.to_dict("records")[0])


def page(row: dict[str, Any]) -> bytes:
    return json.dumps({"rc": 0, "data": {"total": 1, "diff": [row]}}).encode()


def test_figures_and_items_stay_in_the_currency_of_the_company() -> None:
    row = parsed("figures")
    assert (row["code"], row["report_period"], row["currency"]) == ("00700", "2025-12-31", "CNY")
    assert (row["revenue"], row["net_profit"], row["eps"], row["roe"]) == (7.5e11, 2.2e11, 24.1, 21.3)
    assert parsed("items")["value"] == 7.5e11
    assert math.isnan(parsed("items", AMOUNT="-")["value"])


@pytest.mark.parametrize(
    ("plan", "cash", "currency"),
    [
        ("每股派港币4.5元(相当于人民币4.14元)", 4.5, "HKD"),
        ("每股派人民币0.2933元", 0.2933, "CNY"),
        ("每股派美元0.1元", 0.1, "USD"),
        ("10送1股", math.nan, None),
        (None, math.nan, None),
    ],
)
def test_cash_of_a_plan_text(plan: str | None, cash: float, currency: str | None) -> None:
    row = parsed("dividend", PLAN_EXPLAIN=plan)
    assert row["dividend_ps"] == pytest.approx(cash, nan_ok=True)
    assert (row["currency"], row["plan"], row["ex_date"]) == (currency, plan, "2026-05-15")


def test_prices_and_premium_imply_the_exchange_rate() -> None:
    row = pair()
    assert (row["a_code"], row["h_code"], row["fx_rate"]) == ("601398", "01398", 0.92)
    assert math.isnan(pair(f2="-")["fx_rate"])  # suspended there
    with pytest.raises(PayloadError, match="another unit"):
        pair(f2=12_500)
    with pytest.raises(PayloadError, match="code"):
        pair(f12="601398")


def test_other_companies_and_periods_are_refused() -> None:
    portal, pages = client(body([FIGURES], 1))
    with pytest.raises(PayloadError, match="not asked for"):
        portal.hk_indicators("00005")
    assert pages.asked[0].path == "/securities/api/data/v1/get"
    portal, _ = client(body([ITEM], 1))
    with pytest.raises(PayloadError, match="2025-12-31"):
        portal.hk_statement("00700", "income", ["2024-12-31"])
    portal, _ = client(body([DIVIDEND], 1))
    with pytest.raises(PayloadError, match="another company"):
        portal.hk_dividends("00005")
    with pytest.raises(InputError, match="five digits"):
        portal.hk_profile('00700")(A="1')
    with pytest.raises(InputError, match="statement"):
        portal.hk_statement("00700", "equity", ["2024-12-31"])


@quick
@given(st.data())
def test_damaged_answers(data: st.DataObject) -> None:
    calls = {
        body([row], 1): partial(data_centre.parse_report, what=name, read=read)
        for name, (row, read) in READ.items()
    }
    calls[page(PAIR)] = partial(lists.parse_page, what="pairs", read=hong_kong.PAIRS.frame)
    sound = data.draw(st.sampled_from(sorted(calls)))
    damaged = data.draw(st.one_of(damaged_json(sound), damaged_bytes(sound)))
    try:
        rows = calls[sound](damaged).rows
    except (*ACCEPTED, Permanent):
        return
    assert rows.empty or rows.iloc[:, 0].notna().all()
