"""Money flow and minute bars of the second quote site: recorded and documented answers, and damaged ones."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError
from resources.rejections import noting
from resources.upstreams.sina import bars, flows
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, quick

FLOW = (Path(__file__).parent / "payloads" / "sina_moneyflow_001216.json").read_bytes()
MINUTES = json.dumps([
    {"day": "2026-06-29 09:35:00", "open": "103.000", "high": "105.800", "low": "102.990", "close": "103.690",
     "volume": "25096156", "ma_price5": 103.69, "ma_volume5": 25096156},
    {"day": "2026-06-29 09:40:00", "open": "103.690", "high": "104.000", "low": "103.100", "close": "103.500",
     "volume": "12000000"},
]).encode()  # fmt: skip


def changed(**fields: object) -> bytes:
    first, *others = json.loads(FLOW)
    return json.dumps([{**first, **fields}, *others]).encode()


def test_the_recorded_money_flow() -> None:
    rows = flows.parse_flow(FLOW, "sz001216")

    assert rows["date"].tolist() == ["2026-09-23", "2026-09-24"]
    newest = rows.iloc[1]
    assert (newest["code"], newest["close"]) == ("001216", 28.36)
    assert newest["super_net"] == 116_502_078.34
    assert newest["main_net"] == pytest.approx(116_502_078.34 - 24_983_724.00)
    assert (newest["medium_net"], newest["small_net"]) == (-9_609_652.96, 2_682_137.70)
    request = flows.flow_request("sz001216", 60)
    params = dict(request.params)
    # r0 to r3 with their nets are in this one; its sibling ssl_qsfx_zjlrqs has none of them.
    assert request.path.endswith("/MoneyFlow.ssl_qsfx_lscjfb")
    assert (params["daima"], params["num"], params["sort"]) == ("sz001216", "60", "opendate")
    assert flows.parse_flow(b"null", "sz001216").empty


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"__ERROR": 1, "__ERRORMSG": "x"}', "__ERROR"),
    ],
)
def test_rejected_money_flow(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        flows.parse_flow(body, "sz001216")


@pytest.mark.parametrize(
    ("fields", "reason"), [({"netamount": "84590.8390"}, "is not the sum"), ({"r0_net": None}, "is missing")]
)
def test_an_odd_day_costs_that_day(fields: dict[str, object], reason: str) -> None:
    with noting() as rejected:
        rows = flows.parse_flow(changed(**fields), "sz001216")

    assert rows["date"].tolist() == ["2026-09-23"]
    ((day, why),) = rejected
    assert day == "2026-09-24"
    assert reason in why


NET_OF_THE_LARGEST = json.dumps([
    {"opendate": "2026-09-24", "trade": "28.3600", "changeratio": "0.001766", "turnover": "512.3",
     "netamount": "84590839.0800", "ratioamount": "0.071064", "r0_net": "116502078.3400",
     "r0_ratio": "0.09787", "r0x_ratio": "52.1", "cnt_r0x_ratio": "2"},
]).encode()  # fmt: skip


def test_the_sibling_without_the_four_nets_is_refused() -> None:
    with pytest.raises(PayloadError, match="r1_net is missing"):
        flows.parse_flow(NET_OF_THE_LARGEST, "sz001216")


def test_documented_minute_bars() -> None:
    rows = bars.parse_minute_bars(MINUTES, "sh688981", 5)

    assert rows["datetime"].tolist() == ["2026-06-29 09:35:00", "2026-06-29 09:40:00"]
    assert set(rows["period"]) == {"5m"}
    assert (rows["close"].iloc[0], rows["volume"].iloc[0]) == (103.69, 25_096_156)
    assert rows["amount"].isna().all()
    assert dict(bars.bars_request("sh688981", 800, 15).params)["scale"] == "15"
    with pytest.raises(InputError, match="minutes"):
        bars.bars_request("sh688981", 800, 1)
    with pytest.raises(PayloadError, match="no time"):
        bars.parse_minute_bars(MINUTES.replace(b"09:35:00", b"9.35"), "sh688981", 5)


@quick
@given(st.one_of(damaged_json(FLOW), damaged_bytes(FLOW)))
def test_damaged_money_flow(body: bytes) -> None:
    try:
        rows = flows.parse_flow(body, "sz001216")
    except ACCEPTED:
        return
    assert rows["date"].is_monotonic_increasing
    assert rows["main_net"].notna().all()


@quick
@given(st.one_of(damaged_json(MINUTES), damaged_bytes(MINUTES)))
def test_damaged_minute_bars(body: bytes) -> None:
    try:
        rows = bars.parse_minute_bars(body, "sh688981", 5)
    except ACCEPTED:
        return
    assert not (rows["volume"] < 0).any()
