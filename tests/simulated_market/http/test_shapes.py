"""What the responders send has the shape of what was recorded: keys, types, field counts, separators."""

import json
from dataclasses import replace
from pathlib import Path

import httpx
import pandas as pd
import pytest

from core.clock import FrozenClock
from core.errors import PayloadError
from simulated_market.service import SimulatedMarket
from tests.simulated_market.http.tiny_world import NOW, TinyWorld

PAYLOADS = Path(__file__).parents[2] / "upstreams"
TENCENT = PAYLOADS / "tencent" / "payloads"
EASTMONEY = PAYLOADS / "eastmoney" / "payloads"


def get(market, path: str) -> httpx.Response:
    market.faults.clear()
    return httpx.get(market.http_url + path, trust_env=False)


def recorded(name: str):
    return json.loads((EASTMONEY / name).read_bytes())


def kinds(row: dict) -> dict:
    """Types by key; whole and broken numbers are one type in JSON."""
    return {
        key: "number" if isinstance(value, int | float) else type(value).__name__
        for key, value in row.items()
    }


def test_bars_of_the_portal(market):
    sample = recorded("em_kline_601872_20241218_1231.json")
    path = "/eastmoney/api/qt/stock/kline/get?secid=1.600519&klt=101&fqt=0&beg=20260801&end=20260821"

    made = get(market, path).json()

    assert kinds(made) == kinds(sample)
    assert kinds(made["data"]) == kinds(sample["data"])
    ours, theirs = made["data"]["klines"][0].split(","), sample["data"]["klines"][0].split(",")
    assert len(ours) == len(theirs)
    for mine, value in zip(ours, theirs, strict=True):
        # Same number of decimals, column by column.
        assert len(mine.partition(".")[2]) == len(value.partition(".")[2])


def test_no_data_of_the_portal(market):
    made = get(market, "/eastmoney/api/qt/stock/kline/get?secid=1.609999&klt=101&fqt=0").json()

    assert {**made, "svr": 0} == {**recorded("em_kline_no_data.json"), "svr": 0}


def test_quotes_of_the_portal(market):
    sample = recorded("em_ulist_fltt2_20260930.json")
    names = ",".join(sample["data"]["diff"][0])
    path = (
        f"/eastmoney/api/qt/ulist.np/get?fltt=2&invt=2&np=1&fields={names}&secids=1.600519,0.000001,1.000001"
    )

    made = get(market, path).json()

    assert kinds(made) == kinds(sample)
    assert kinds(made["data"]) == kinds(sample["data"])
    for row in made["data"]["diff"]:
        assert kinds(row) == kinds(sample["data"]["diff"][0])


def test_money_flow_of_the_portal(market):
    sample = recorded("em_fflow_daykline_600519.json")

    made = get(market, "/eastmoney/api/qt/stock/fflow/daykline/get?lmt=0&klt=101&secid=1.600519").json()

    assert set(sample) <= set(made)
    assert kinds(made["data"]) == kinds(sample["data"])
    ours, theirs = made["data"]["klines"][0].split(","), sample["data"]["klines"][0].split(",")
    assert [len(v.partition(".")[2]) for v in ours] == [len(v.partition(".")[2]) for v in theirs]


def test_boards_of_the_portal(market):
    sample = recorded("em_clist_sector_fflow.json")
    names = ",".join(sample["data"]["diff"][0])
    path = f"/eastmoney/api/qt/clist/get?pn=1&pz=50&np=1&fltt=2&fid=f62&po=1&fs=m:90+t:2&fields={names}"

    made = get(market, path).json()

    assert set(sample) <= set(made)
    assert kinds(made["data"]) == kinds(sample["data"])
    rows = made["data"]["diff"]
    assert {tuple(sorted(kinds(row).items())) for row in rows if row["f62"] != "-"} == {
        tuple(sorted(kinds(sample["data"]["diff"][0]).items()))
    }
    assert [row["f62"] for row in rows] == sorted((row["f62"] for row in rows), reverse=True)


def test_without_fltt_prices_and_percentages_are_scaled_integers(market):
    path = "/eastmoney/api/qt/ulist.np/get?np=1&fields=f1,f2,f3,f6,f69&secids=1.600519{}"

    natural = get(market, path.format("&fltt=2")).json()["data"]["diff"][0]
    scaled = get(market, path.format("")).json()["data"]["diff"][0]

    assert scaled["f2"] == round(natural["f2"] * 10 ** scaled["f1"])
    assert scaled["f3"] == pytest.approx(natural["f3"] * 100, abs=1)
    assert isinstance(scaled["f3"], int)
    assert scaled["f6"] == natural["f6"]


def test_without_np_the_rows_are_a_map_with_numbers_for_keys(market):
    path = "/eastmoney/api/qt/clist/get?fltt=2&fields=f12&pz=2&fid=f12&po=0&fs=m:0+t:6"

    diff = get(market, path).json()["data"]["diff"]

    assert diff == {"0": {"f12": "000001"}, "1": {"f12": "000002"}}


def test_named_securities_are_a_list_with_and_without_np(market):
    path = "/eastmoney/api/qt/ulist.np/get?fltt=2&fields=f12&secids=1.600519,0.000001"

    rows = [{"f12": "600519"}, {"f12": "000001"}]
    assert get(market, path).json()["data"]["diff"] == rows
    assert get(market, path + "&np=1").json()["data"]["diff"] == rows


def test_missing_values_of_a_suspended_stock_are_a_dash(market):
    path = "/eastmoney/api/qt/ulist.np/get?fltt=2&np=1&fields=f2,f3,f5,f62,f18&secids=0.000002"

    row = get(market, path).json()["data"]["diff"][0]

    assert [row[name] for name in ("f2", "f3", "f5", "f62")] == ["-"] * 4
    assert isinstance(row["f18"], float)


def test_a_page_has_at_most_100_rows_whatever_is_asked(big_market):
    path = "/eastmoney/api/qt/clist/get?pn={}&pz=5000&np=1&fs=m:0+t:6,m:1+t:2&fid=f12&po=0&fields=f12"

    pages = [get(big_market, path.format(page)).json()["data"] for page in (1, 2, 3, 4)]

    assert [len(page["diff"]) if page else 0 for page in pages] == [100, 100, 33, 0]
    assert {page["total"] for page in pages if page} == {233}


def test_a_list_that_does_not_exist_differs_from_an_empty_one(market):
    path = "/eastmoney/api/qt/clist/get?pn={}&pz=5&np=1&fltt=2&fields=f12&fid=f12&po=0&fs={}"

    for impossible in ("m:7+t:6", "m:0+t:999", "nonsense", "", "b:BK9999", "b:MK99"):
        answer = get(market, path.format(1, impossible)).json()
        assert (answer["rc"], answer["data"]) == (102, None), impossible
    for pages, empty in ((1, "m:1+t:9+e:97"), (99, "m:0+t:6")):
        answer = get(market, path.format(pages, empty)).json()
        assert (answer["rc"], answer["data"]) == (0, None), empty


def test_our_client_refuses_a_list_that_the_portal_does_not_know(market, bench):
    with pytest.raises(PayloadError, match="rc 102"):
        bench.eastmoney.clist("m:0+t:999", "f12,f13,f14", pd.DataFrame, key="f12")
    assert bench.eastmoney.board_members("BK9999").empty


def test_jsonp_echoes_the_callback(market):
    reply = get(market, "/eastmoney/api/qt/ulist.np/get?cb=jQuery1&fltt=2&fields=f12&secids=1.600519")

    assert reply.text.startswith("jQuery1({")
    assert reply.text.endswith("});")


def test_snapshot_record(market):
    sample = (TENCENT / "records.txt").read_text(encoding="utf-8").splitlines()
    stock = next(line for line in sample if line.startswith("v_sh600519"))
    star = next(line for line in sample if line.startswith("v_sh688981"))
    index = next(line for line in sample if line.startswith("v_sh000001"))

    reply = get(market, "/tencent/q=sh600519,sh688981,sh000001")

    assert reply.headers["content-type"] == "text/html; charset=GBK"
    ours = reply.content.decode("gbk").splitlines()
    for made, theirs in zip(ours, (stock, star, index), strict=True):
        mine, values = made.split("~"), theirs.split("~")
        assert len(mine) == len(values) == 88
        assert (made[:13], made[-2:]) == (theirs[:13], theirs[-2:])
        for at in (3, 6, 30, 32, 33, 35, 37, 57, 61, 82):
            assert _pattern(mine[at]) == _pattern(values[at]), at
    assert ours[1].split("~")[61] == "GP-A-KCB"


def _pattern(value: str) -> str:
    """Digits before the point do not matter, digits after it do."""
    _, point, rest = value.partition(".")
    if value.replace(".", "").replace("-", "").isdigit():
        return "number" + point + "0" * len(rest)
    return "/".join("n" for _ in value.split("/")) if "/" in value else value


def test_short_record_and_utf8(market):
    reply = get(market, "/tencent/utf8/q=s_sh600519")

    fields = reply.content.decode("utf-8").split("~")
    assert len(fields) == 11
    assert fields[1] == "贵州茅台"


def test_nothing_known_and_too_much(market):
    assert get(market, "/tencent/q=sh609999").content == b'v_pv_none_match="1";\n'
    assert get(market, "/tencent/q=" + ",".join(["sh600519"] * 801)).status_code == 414


def test_bars_of_the_quote_site(market):
    sample = json.loads((TENCENT / "tencent_newfqkline_sh600000_202609.json").read_bytes())
    path = "/tencent/ifzqgtimg/appstock/app/newfqkline/get?param=sh600519,day,,,20,"

    made = get(market, path).json()

    assert kinds(made) == kinds(sample)
    ours, theirs = made["data"]["sh600519"], sample["data"]["sh600000"]
    assert kinds(ours) == kinds(theirs)
    assert len(ours["qt"]["sh600519"]) == len(theirs["qt"]["sh600000"]) == 88
    mine, values = ours["day"][0], theirs["day"][0]
    assert [type(value) for value in mine] == [type(value) for value in values]
    assert [_pattern(v) for v in mine if isinstance(v, str)][1:] == [
        _pattern(v) for v in values if isinstance(v, str)
    ][1:]


def test_short_bars_have_six_values(market):
    made = get(market, "/tencent/appstock/app/fqkline/get?param=sh600519,day,,,5,qfq").json()["data"][
        "sh600519"
    ]

    assert all(len(row) == 6 for row in made["day"])


class ExDividend(TinyWorld):
    """The newest reference price is 5 CNY below the last close."""

    def bars(self, security, now):
        bars = super().bars(security, now)
        preclose = bars.preclose.copy()
        preclose[-1] -= 50_000
        return replace(bars, preclose=preclose)


def test_adjusted_bars_are_additive_on_both_sites():
    with SimulatedMarket(ExDividend(), FrozenClock(NOW), tcp_port=None) as market:
        path = "/tencent/appstock/app/newfqkline/get?param=sh600519,day,,,2,"
        plain = get(market, path).json()["data"]["sh600519"]["day"]
        forward = get(market, path + "qfq").json()["data"]["sh600519"]["qfqday"]
        backward = get(market, path + "hfq").json()["data"]["sh600519"]["hfqday"]
        portal = "/eastmoney/api/qt/stock/kline/get?secid=1.600519&klt=101&lmt=2&fqt="
        raw, adjusted = (get(market, portal + fqt).json()["data"]["klines"] for fqt in "01")

    def closes(rows):
        return [float(row[2]) for row in rows]

    assert closes(forward) == pytest.approx([closes(plain)[0] - 5, closes(plain)[1]])
    assert closes(backward) == pytest.approx([closes(plain)[0], closes(plain)[1] + 5])
    assert closes([row.split(",") for row in adjusted]) == pytest.approx(closes(forward))
    assert closes([row.split(",") for row in raw]) == pytest.approx(closes(plain))


def test_parameter_errors_of_the_quote_site(market):
    bad = get(market, "/tencent/appstock/app/newfqkline/get?param=sh600519,fortnight,,,5,").json()

    assert bad == {"code": -1, "msg": "param error", "data": None}
    assert (
        get(market, "/tencent/cgi/cgi-bin/fundflow/hsfundtab?code=sh600519&klineNeedDay=51").json()["code"]
        == 51
    )
