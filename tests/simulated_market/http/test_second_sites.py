"""The second quote site and the social site through their clients: recorded shapes, manners, one market."""

import httpx
import pytest

from core.errors import PayloadError, Permanent, Refused
from tests.simulated_market.http.test_shapes import _pattern, get
from tests.upstreams.sina.test_sina import PAYLOADS, STOCK
from tests.upstreams.xueqiu.test_xueqiu import QUOTE

REFERER = {"Referer": "https://finance.sina.com.cn/"}


def test_records_have_the_recorded_fields(market):
    market.faults.clear()
    url = f"{market.http_url}/sina/list=sh000001,sz300750"
    reply = httpx.get(url, headers=REFERER, trust_env=False)
    made = reply.content.decode("gb18030").splitlines()
    recorded = (PAYLOADS / "sina_hq_index_20260821.txt").read_text(encoding="utf-8").splitlines()[0]

    for ours, theirs in zip(
        made, (recorded, STOCK.rstrip("\n").replace(',D|443100|8605002.000"', '"')), strict=True
    ):
        mine, values = ours.split(","), theirs.split(",")
        assert len(mine) == len(values)
        assert (ours[:13], ours[-2:]) == (theirs[:13], theirs[-2:])
        for at in (1, 2, 3, 8, 30, 31, 32):
            assert _pattern(mine[at]) == _pattern(values[at]) or at in {30, 31}, (at, mine[at], values[at])


def test_without_its_referer_the_site_refuses(market):
    market.faults.clear()
    reply = httpx.get(f"{market.http_url}/sina/list=sh600519", trust_env=False)

    assert (reply.status_code, reply.content) == (403, b"Forbidden")


def test_all_quote_sites_agree_on_one_market(bench):
    symbols = ["sh600519", "sh688981", "sz000001", "sz000002", "sh000001"]
    first = bench.tencent.quotes(symbols).set_index("symbol")
    second = bench.sina.quotes([*symbols, "sh609999"]).set_index("symbol")

    assert list(second.index) == symbols
    trading = [symbol for symbol in symbols if symbol != "sz000002"]
    for column in ("price", "open", "high", "low", "last_close"):
        assert list(first[column][trading]) == pytest.approx(list(second[column][trading]), abs=0.01)
    # Lots of the first site, shares of the second.
    assert (first["volume"] - second["volume"])[trading].abs().max() < 100
    assert list(second["is_suspended"]) == [symbol == "sz000002" for symbol in symbols]
    bars = bench.sina.daily_bars("sz000001", 5)
    assert bars["close"].iloc[-1] == second["price"]["sz000001"]
    assert len(bench.sina.daily_bars("sh609999", 5)) == 0


def test_a_visit_brings_the_token_once(bench):
    row = bench.xueqiu.quote("sh600519").iloc[0]
    again = bench.xueqiu.quote("sz000002").iloc[0]

    assert bench.market.calls()["xueqiu"] == {"quote": 3, "visit": 2}
    assert row["price"] == bench.sina.quotes(["sh600519"])["price"].iloc[0]
    assert again["is_suspended"]
    assert len(bench.xueqiu.quote("sh609999")) == 0


def test_a_site_that_gives_no_token_is_asked_twice_and_left(bench):
    reported = '{"error_code":"400016","error_data":null}'
    bench.fault("status", "xueqiu", "quote", code=400, body=reported)

    with pytest.raises(Permanent, match="token"):
        bench.xueqiu.quote("sh600519")
    assert bench.market.calls()["xueqiu"] == {"quote": 2, "visit": 2}


@pytest.mark.parametrize(("kind", "error"), [("html", Refused), ("garbage", PayloadError)])
def test_block_pages_and_noise_of_the_social_site(bench, kind, error):
    bench.fault(kind, "xueqiu", "quote")

    with pytest.raises(error) as caught:
        bench.xueqiu.quote("sh600519")
    assert caught.value.source == "xueqiu"


def test_the_quote_of_the_social_site_has_the_documented_keys(bench, market):
    bench.xueqiu.quote("sh600519")
    cookie = {"Cookie": "xq_a_token=sample-visitor"}
    url = f"{market.http_url}/xueqiu/v5/stock/quote.json?symbol=SH600519&extend=detail"
    made = httpx.get(url, headers=cookie, trust_env=False).json()

    assert set(made) == {"data", "error_code", "error_description"}
    assert list(made["data"]["quote"]) <= list(made["data"]["quote"] | QUOTE)
    assert set(QUOTE) == set(made["data"]["quote"])


def test_shapes_of_bars(market):
    made = get(market, "/sina/quotes_service/api/json_v2.php/CN_MarketData.getKLineData"
                       "?symbol=sz000001&scale=240&ma=no&datalen=3").json()  # fmt: skip

    assert len(made) == 3
    assert set(made[0]) == {"day", "open", "high", "low", "close", "volume"}
    assert all(isinstance(value, str) for value in made[0].values())
