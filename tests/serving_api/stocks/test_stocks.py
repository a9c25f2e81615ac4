"""Stock reads: numbers of adjusted bars, as-of answers, search order, empty structures, cache headers."""

import numpy as np
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.declaration.registry import builtin_registry
from tests.serving_api import market
from tests.serving_api.conftest import Bench

DAYS = shipped_calendar().last(40, market.TODAY)


def test_kline_is_forward_adjusted_by_default_and_leaves_suspended_days_out(bench: Bench) -> None:
    body = bench.api.get("/stocks/600519/kline").json()

    assert body["adjust"] == "qfq"
    assert body["stats"] == {"total": 39}
    assert [row["date"] for row in body["results"]] == DAYS[:10] + DAYS[11:]
    first, last = body["results"][0], body["results"][-1]
    assert list(first) == ["date", "open", "close", "high", "low", "volume", "amount"]
    # Before the split: factor 1 of 2, so half the traded price. At the newest bar: the traded price.
    assert first["close"] == pytest.approx(50.0)
    assert last["close"] == pytest.approx((100.0 + 39) / 2)
    assert first["volume"] == 1000
    assert first["amount"] == 100_000.0


def test_adjustments_keep_returns_and_differ_by_a_constant(bench: Bench) -> None:
    closes = {
        adjust: [
            row["close"] for row in bench.api.get(f"/stocks/600519/kline?adjust={adjust}").json()["results"]
        ]
        for adjust in ("none", "qfq", "hfq")
    }

    assert closes["none"][0] == 100.0
    assert closes["none"][-1] == 69.5
    assert closes["hfq"][-1] == 139.0
    assert [h / q for h, q in zip(closes["hfq"], closes["qfq"], strict=True)] == pytest.approx([2.0] * 39)


def recomputed(candles: pd.DataFrame) -> pd.DataFrame:
    """The lines of candles, with pandas alone; of RSI and KDJ by their recursions."""
    close, high, low = candles["close"], candles["high"], candles["low"]
    lines = {f"ma{n}": close.rolling(n).mean() for n in (5, 10, 20, 60)}
    deviation = close.rolling(20).std(ddof=1)
    lines |= {"boll_mid": lines["ma20"], "boll_upper": lines["ma20"] + 2 * deviation}
    lines["boll_lower"] = lines["ma20"] - 2 * deviation
    fast, slow = (close.ewm(span=n, adjust=False).mean() for n in (12, 26))
    lines["macd_dif"] = fast - slow
    lines["macd_dea"] = lines["macd_dif"].ewm(span=9, adjust=False).mean()
    lines["macd_hist"] = 2 * (lines["macd_dif"] - lines["macd_dea"])
    for n in (6, 12, 24):
        change = close.diff().dropna()
        up = change.clip(lower=0).ewm(alpha=1 / n, adjust=False).mean()
        moved = change.abs().ewm(alpha=1 / n, adjust=False).mean()
        lines[f"rsi{n}"] = (up / moved * 100).where(np.arange(1, len(close)) >= n)
    top, bottom = high.rolling(9, min_periods=1).max(), low.rolling(9, min_periods=1).min()
    rsv, k, d = ((close - bottom) / (top - bottom) * 100).fillna(50.0), 50.0, 50.0
    rows = []
    for value in rsv:
        k = (2 * k + value) / 3
        d = (2 * d + k) / 3
        rows.append((k, d, 3 * k - 2 * d))
    return pd.DataFrame(lines).join(pd.DataFrame(rows, columns=["kdj_k", "kdj_d", "kdj_j"]))


@pytest.mark.parametrize("adjust", ["none", "qfq", "hfq"])
@pytest.mark.parametrize("as_of", [{}, {"as_of": "2026-08-14"}])
def test_every_line_is_that_of_the_candles_across_a_split(
    bench: Bench, adjust: str, as_of: dict[str, str]
) -> None:
    asked = {"adjust": adjust, **as_of}
    candles = bench.api.get("/stocks/600519/kline", params={"days": 2000, **asked}).json()["results"]

    body = bench.api.get("/stocks/600519/kline", params={"days": 30, "lines": True, **asked}).json()

    assert body["results"] == candles[-30:]
    expected = recomputed(pd.DataFrame(candles)).tail(30)
    assert set(body["lines"]) == set(expected)
    for name, values in body["lines"].items():
        np.testing.assert_allclose(np.array(values, float), expected[name], atol=6e-5, err_msg=name)


def test_days_counts_bars_from_the_newest(bench: Bench) -> None:
    rows = bench.api.get("/stocks/600519/kline?days=30").json()["results"]

    assert [row["date"] for row in rows] == (DAYS[:10] + DAYS[11:])[-30:]


def test_as_of_before_the_split_knows_nothing_of_it(bench: Bench) -> None:
    body = bench.api.get("/stocks/600519/kline?as_of=2026-08-14").json()

    assert body["results"][-1]["date"] == "2026-08-14"
    assert body["results"][0]["close"] == 100.0
    assert body["as_of"] == "2026-08-14T23:59:59.999999+08:00"


def test_a_bar_is_public_at_the_close_of_its_day(bench: Bench) -> None:
    def newest(as_of: str) -> str:
        body = bench.api.get("/stocks/600519/kline", params={"as_of": as_of}).json()
        return str(body["results"][-1]["date"])

    assert newest("2026-08-21T14:59:59") == DAYS[-2]
    assert newest("2026-08-21T15:00:00") == DAYS[-1]
    assert newest("2026-08-21T07:00:00Z") == DAYS[-1]


def test_as_of_before_the_first_bar_is_empty(bench: Bench) -> None:
    body = bench.api.get("/stocks/600519/kline?as_of=2020-01-01").json()

    assert body["results"] == []
    assert body["stats"] == {"total": 0}


@pytest.mark.parametrize(
    "as_of", ["2026-08-22", "20260822", "2026-08-21T15:30:01", "yesterday", "2026-02-30", ""]
)
def test_future_and_malformed_as_of_is_refused(bench: Bench, as_of: str) -> None:
    answer = bench.api.get("/stocks/600519/kline", params={"as_of": as_of})

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("as_of: ")
    assert answer.json()["errors"][0]["loc"] == ["query", "as_of"]


def test_a_correction_is_seen_only_after_it_was_made(own_on_both: Bench) -> None:
    warehouse = own_on_both.warehouse(clock=market.ManualClock(market.NOW))
    market.put(warehouse, market.KLINE, [market.bar("600519", "2026-08-19", 10.0)])
    warehouse.clock.at = market.NOW.replace(hour=15, minute=20)
    market.put(warehouse, market.KLINE, [market.bar("600519", "2026-08-19", 12.0)])

    def close(query: str) -> float:
        return float(own_on_both.api.get(f"/stocks/600519/kline{query}").json()["results"][0]["close"])

    warehouse.close()
    assert close("") == 12.0
    assert close("?as_of=2026-08-20") == 10.0


def test_fewer_bars_than_asked_for_are_explained(bench: Bench) -> None:
    whole, cut = (bench.api.get(f"/stocks/600519/kline?days={days}").json() for days in (30, 100))

    assert (whole["first_date"], "note" in whole) == (DAYS[0], False)
    assert cut["note"] == f"39 of 100 bars are stored; the first stored date is {DAYS[0]}"
    many = bench.api.get("/stocks/batch-kline?codes=600519,999999&days=30").json()
    assert (many["first_date"], many["note"]) == (DAYS[0], "fewer than 30 bars are stored of 999999")


def test_unknown_code_has_no_bars(bench: Bench) -> None:
    answer = bench.api.get("/stocks/999999/kline")

    assert answer.status_code == 200
    assert answer.json()["results"] == []


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        (
            "/stocks/600519/kline?days=29",
            "days: Input should be greater than or equal to 30; allowed: 30..2000",
        ),
        (
            "/stocks/600519/kline?days=2001",
            "days: Input should be less than or equal to 2000; allowed: 30..2000",
        ),
        ("/stocks/600519/kline?days=many", "days: Input should be a valid integer"),
        ("/stocks/60051/kline", "code: String should match pattern"),
        ("/stocks/60051９/kline", "code: String should match pattern"),
        ("/stocks/600519/kline?adjust=front", "adjust: Input should be 'none', 'qfq' or 'hfq'"),
        ("/stocks/batch-kline", "codes: Field required"),
        ("/stocks/batch-kline?codes=", "codes: the list is empty"),
        ("/stocks/batch-kline?codes=600519,abc", "codes: 'abc' is no code"),
        ("/stocks/search", "keyword: Field required"),
        ("/stocks/search?keyword=a&page_size=101", "page_size: Input should be less than or equal to 100"),
    ],
)
def test_bad_parameters_are_named(bench: Bench, path: str, detail: str) -> None:
    answer = bench.api.get(path)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)
    assert set(answer.json()) == {"detail", "errors"}


def test_batch_kline_answers_each_code(bench: Bench) -> None:
    body = bench.api.get("/stocks/batch-kline?codes=600519, 000001,600519,999999&days=5").json()

    assert list(body["results"]) == ["600519", "000001", "999999"]
    assert [row["date"] for row in body["results"]["600519"]] == DAYS[-5:]
    assert len(body["results"]["000001"]) == 1
    assert body["results"]["999999"] == []
    assert (body["total"], body["stats"]["total"], body["adjust"]) == (3, 3, "qfq")


def test_batch_kline_equals_the_single_reads(bench: Bench) -> None:
    batch = bench.api.get("/stocks/batch-kline?codes=600519&days=30").json()["results"]["600519"]

    assert batch == bench.api.get("/stocks/600519/kline?days=30").json()["results"]


def test_too_many_codes_are_refused_after_deduplication(bench: Bench) -> None:
    many = ",".join(f"{number:06d}" for number in range(101))

    assert bench.api.get(f"/stocks/batch-kline?codes={many}").status_code == 422
    assert bench.api.get(f"/stocks/batch-kline?codes={'600519,' * 200}").status_code == 200


@pytest.mark.parametrize(
    ("keyword", "codes"),
    [
        ("600519", ["600519"]),
        ("0000", ["000001"]),
        ("银行", ["000001", "601398", "601939"]),
        ("五粮液", ["000858"]),
        ("ＴＣＬ", ["000100"]),
        ("６００ 519", ["600519"]),
        ("gz mt", ["600519"]),
        ("ｇｚｍｔ", ["600519"]),
        ("gzmt", ["600519"]),
        ("GONG", ["601398"]),
        ("yh", ["000001", "601398", "601939"]),
        ("zhongguo", ["601857"]),
        ("g", ["600519", "601398", "601857", "000001", "000858", "601939"]),
        ("邯郸", []),
        ("zzzz", []),
        ("sx", ["601827"]),
        ("sanxia", ["601827"]),
    ],
)
def test_search_by_code_name_and_pinyin(bench: Bench, keyword: str, codes: list[str]) -> None:
    body = bench.api.get("/stocks/search", params={"keyword": keyword}).json()

    found = [row["code"] for row in body["results"]]
    assert found == codes
    assert body["stats"]["total"] == body["page_info"]["total"]


def test_search_hits_carry_no_live_values(bench: Bench) -> None:
    body = bench.api.get("/stocks/search?keyword=600519").json()

    assert body["results"] == [
        {
            "code": "600519",
            "name": "贵州茅台",
            "industry": "白酒",
            "market": "SH",
            "price": 0,
            "changePercent": 0,
        }
    ]
    assert body["page_info"] == {"cur_page": 1, "per_page": 10, "total": 1}


def test_search_pages(bench: Bench) -> None:
    body = bench.api.get("/stocks/search?keyword=银行&page=2&page_size=2").json()

    assert [row["code"] for row in body["results"]] == ["601939"]
    assert body["page_info"] == {"cur_page": 2, "per_page": 2, "total": 3}


def test_index_lists_all_that_are_not_delisted(bench: Bench) -> None:
    body = bench.api.get("/stocks/index").json()

    assert [row["code"] for row in body["results"]] == sorted(c for c, *_ in market.STOCKS if c != "600001")
    assert body["results"][-2] == {
        "code": "601857",
        "name": "中国石油",
        "market": "SH",
        "py": "zgsy",
        "pinyin": "zhongguoshiyou",
        "secType": "stock",
        "pinyinOthers": [],
    }
    assert body["results"][-3]["pinyinOthers"] == [{"py": "sx", "pinyin": "sanxia"}]
    assert body["stats"]["total"] == 8


def test_detail_reads_the_wide_row_in_cny(bench: Bench) -> None:
    body = bench.api.get("/stocks/600519").json()

    assert body["results"] == {
        "code": "600519",
        "name": "贵州茅台",
        "price": 69.5,
        "changePercent": 0.72,
        "peRatio": 21.5,
        "pbRatio": 7.25,
        "marketCap": 87_292_000_000.0,
        "turnoverRate": 0.3,
        "totalShares": 1_256_000_000,
        "floatShares": 1_256_000_000,
    }
    assert body["data_availability"] == {
        "kline": True,
        "valuation": False,
        "moneyflow": False,
        "quote": True,
        "finance": False,
    }


def test_the_stored_quote_is_the_fallback_for_a_missing_wide_row(own: Bench) -> None:
    warehouse = own.warehouse()
    row = {
        "code": "600519",
        "trade_date": market.TODAY,
        "name": "贵州茅台",
        "price": 69.5,
        "turnover_pct": 0.3,
    }
    market.put(warehouse, market.QUOTE, [row])
    warehouse.close()

    figures = own.api.get("/stocks/600519").json()["results"]

    assert (figures["name"], figures["price"], figures["turnoverRate"]) == ("贵州茅台", 69.5, 0.3)


def test_known_code_without_data_has_nulls_and_unknown_code_is_404(bench: Bench) -> None:
    known = bench.api.get("/stocks/601398")
    unknown = bench.api.get("/stocks/999999")

    assert known.status_code == 200
    assert known.json()["results"]["price"] is None
    assert unknown.status_code == 404
    assert set(unknown.json()) == {"detail"}
    assert bench.api.get("/stocks/601398?as_of=2026-07-01").status_code == 404


def test_base_info_is_null_when_missing(bench: Bench) -> None:
    body = bench.api.get("/stocks/999999/base-info").json()

    assert body["ok"] is True
    assert body["results"] is None
    assert body["data_availability"]["kline"] is False


def test_base_info_joins_master_industry_and_wide(bench: Bench) -> None:
    info = bench.api.get("/stocks/600519/base-info").json()["results"]

    assert info["industry"] == "白酒"
    assert info["concepts"] == ["白马股", "消费"]
    assert info["listDate"] == "2001-08-27"
    assert (info["roe"], info["debtRatio"], info["reportPeriod"]) == (17.9, 14.2, "2026-06-30")
    assert info["psTtm"] is None


def test_batch_quotes_are_stored_quotes(bench: Bench) -> None:
    rows = bench.api.get("/stocks/batch-quotes?codes=999999,600519").json()["results"]

    assert rows == [
        {
            "code": "600519",
            "name": "贵州茅台",
            "price": 69.5,
            "open": 69.0,
            "high": 70.0,
            "low": 68.5,
            "prevClose": 69.0,
            "changePercent": 0.72,
            "volume": 1000,
            "amount": 69500.0,
            "turnoverRate": 0.3,
            "time": "2026-08-21 15:00:03",
        }
    ]


def test_charts_may_be_cached_five_minutes_after_the_close(bench: Bench) -> None:
    answer = bench.api.get("/stocks/600519/kline")

    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["x-data-source"] == "fusion_kline_daily"
    assert answer.headers["x-data-as-of"] == "2026-08-21T15:30:00+08:00"
    assert bench.api.get("/stocks/index").headers["cache-control"] == "public, no-cache"


def test_an_unchanged_answer_is_not_sent_again(bench: Bench) -> None:
    first = bench.api.get("/stocks/600519/kline?days=60&adjust=none")
    tag = first.headers["etag"]

    again = bench.api.get(
        "/stocks/600519/kline?adjust=none&days=60", headers={"If-None-Match": f'"other", {tag}'}
    )
    other = bench.api.get("/stocks/600519/kline?days=61&adjust=none", headers={"If-None-Match": tag})

    assert tag.startswith('W/"')
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == first.headers["cache-control"]
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/stocks/600519/kline?days=60", 304),
        ("/stocks/600519", 304),
        ("/stocks/600519/kline?days=1", 422),
        ("/stocks/search?keyword=", 422),
        ("/stocks/999999", 404),
    ],
)
def test_any_tag_matches_an_answer_and_no_refusal(bench: Bench, path: str, status: int) -> None:
    """`If-None-Match: *` asks whether there is an answer; a wrong request has none."""
    for _ in range(2):  # by the route, then from memory where the read is hot
        assert bench.api.get(path, headers={"If-None-Match": "*"}).status_code == status
        bench.api.get(path)


def test_a_write_is_seen_by_the_next_request(own_on_both: Bench) -> None:
    path = "/stocks/600519/kline"
    assert own_on_both.api.get(path).json()["results"] == []
    warehouse = own_on_both.warehouse()
    for close in (10.0, 11.0):
        market.put(warehouse, market.KLINE, [market.bar("600519", "2026-08-19", close)])
        own_on_both.ticks.advance(1.5)  # MariaDB's versions are read once a second

        assert [row["close"] for row in own_on_both.api.get(path).json()["results"]] == [close]
    warehouse.close()


def test_the_second_read_comes_from_the_cache(own: Bench) -> None:
    warehouse = own.warehouse()
    market.put(warehouse, market.KLINE, [market.bar("600519", "2026-08-19", 10.0)])
    warehouse.close()
    for _ in range(3):
        own.api.get("/stocks/600519/kline?days=60")

    stats = own.api.get("/stocks/cache-stats").json()["results"]
    assert stats["byKey"]["answer"] == {"hits": 2, "misses": 1}
    assert "first bar" not in stats["byKey"]  # the first date was read and cached with the bars
    looked = sum(key["hits"] + key["misses"] for key in stats["byKey"].values())
    assert stats["hitRate"] == pytest.approx(2 / looked, abs=1e-4), stats["byKey"]
    assert 0 < stats["size"] < stats["maxSize"]


@pytest.mark.parametrize(
    ("path", "empty"),
    [
        ("/stocks/600519/kline", []),
        ("/stocks/batch-kline?codes=600519", {"600519": []}),
        ("/stocks/search?keyword=a", []),
        ("/stocks/index", []),
        ("/stocks/batch-quotes?codes=600519", []),
        ("/stocks/600519/base-info", None),
    ],
)
def test_reads_without_a_database_are_empty(own: Bench, path: str, empty: object) -> None:
    own.lose_database()

    answer = own.api.get(path)

    assert answer.status_code == 200
    assert answer.json()["results"] == empty


def test_detail_without_a_database_has_nulls(own: Bench) -> None:
    own.lose_database()

    body = own.api.get("/stocks/600519").json()

    assert body["results"]["code"] == "600519"
    assert set(body["results"].values()) == {"600519", None}


def test_the_dictionary_has_every_column_that_is_asked_for() -> None:
    """The tables of these tests are copies; the declared ones are what is served."""
    declared = {table.name: table for table in builtin_registry().tables}
    copies = [table for table in market.TABLES if table.name in declared]

    for table in copies:
        assert set(table.names) <= set(declared[table.name].names), table.name
        assert table.key == declared[table.name].key
    assert market.KLINE in copies
