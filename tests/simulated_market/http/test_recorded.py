"""Every recorded answer has a test of its parser and one of its responder; here are those of the responder,
by a table: the answer to the client's own call has the recorded keys and types."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from core.clock import FrozenClock
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.simulated_market.http.conftest import bench_of
from tests.simulated_market.http.test_shapes import kinds

TESTS = Path(__file__).parents[2]
FOLDERS = TESTS / "upstreams"
EVENING = datetime.fromisoformat("2026-08-21T22:30")

REPORTS = {
    "RPTA_WEB_RZRQ_GGMX": ("em_dc_margin_600519.json", "(DATE='2026-08-20')"),
    "RPT_SHAREBONUS_DET": ("em_dc_corporate_actions_20260728.json", "(REPORT_DATE='2025-12-31')"),
    "RPTA_APP_IPOAPPLY": ("em_dc_corporate_actions_20260728.json", ""),
    "RPT_LIFT_STAGE": ("em_dc_corporate_actions_20260728.json", ""),
    "RPT_BOND_CB_LIST": ("em_dc_corporate_actions_20260728.json", ""),
}
"""Recorded reports of the data centre: the file, and a filter that a whole answer needs."""

WITHOUT_RESPONDER = {
    "csindex_series_20260720.json": "a card that no client asks for; the history of its figures is",
    "sina_hq_index_20220407.txt": "the same record as that of 2026",
    "tencent_quote_600519_hk00700_20260522.txt": "the record as in records.txt; Hong Kong is not served",
    "tdx_kline_600000_day.json": "bytes of the same call as in quotes_terminal_samples.json",
    "tdx_quotes_raw.json": "bytes of the same call as in tdx_quotes_600000.json",
}


@pytest.fixture(scope="module")
def sample() -> Iterator[SimulatedMarket]:
    with SimulatedMarket(load_world("synthetic", "S"), FrozenClock(EVENING), tcp_port=None) as running:
        yield running


def recorded(name: str):
    return json.loads((FOLDERS / "eastmoney" / "payloads" / name.strip()).read_bytes())


def test_every_recorded_answer_is_held_against_its_parser_and_its_responder():
    names = {
        path.name for path in FOLDERS.glob("*/payloads/*") if path.suffix != ".md"
    }  # fmt: skip
    said = {
        folder: "".join(path.read_text(encoding="utf-8") for path in (TESTS / folder).rglob("*.py"))
        for folder in ("upstreams", "simulated_market")
    }

    def named(name: str, folder: str) -> bool:
        return name in said[folder] or Path(name).stem in said[folder]

    assert {name for name in names if not named(name, "upstreams")} == set()
    assert {name for name in names if not named(name, "simulated_market")} == set()
    assert set(WITHOUT_RESPONDER) <= names


@pytest.mark.parametrize("report", REPORTS)
def test_rows_of_a_report_have_the_recorded_columns(sample, report):
    """Asked for the recorded columns, which are all that a client may ask for by name."""
    name, where = REPORTS[report]
    file = recorded(name)
    theirs = kinds((file[report] if report in file else file["result"]["data"])[0])
    asked = {"reportName": report, "columns": ",".join(theirs), "filter": where, "pageSize": "50"}
    url = f"{sample.http_url}/eastmoney/api/data/v1/get"

    made = httpx.get(url, params=asked, trust_env=False).json()

    assert (made["success"], made["code"]) == (True, 0), made
    if report not in file:
        assert file["result"].keys() <= made["result"].keys()
    rows = made["result"]["data"]
    assert {key for row in rows for key in row} == theirs.keys()
    for row in rows:
        strange = {
            key: (row[key], theirs[key])
            for key, kind in kinds(row).items()
            if kind != theirs[key] and "NoneType" not in {kind, theirs[key]}
        }
        assert strange == {}


def test_main_indicators_have_the_recorded_columns(sample):
    file = recorded("em_dc_f10_mainfina_600519_2026q1.json")
    stock = next(
        one for one in sample.world.securities(EVENING) if one.kind == "stock" and one.market == "SH"
    )
    where = f'(SECUCODE="{stock.code}.SH")'
    asked = {"type": "RPT_F10_FINANCE_MAINFINADATA", "sty": "APP_F10_MAINFINADATA", "filter": where}
    url = f"{sample.http_url}/eastmoney/securities/api/data/get"

    made = httpx.get(url, params=asked, trust_env=False).json()

    theirs = file["result"]["data"][0]
    assert file.keys() <= made.keys()
    for row in made["result"]["data"]:
        assert theirs.keys() <= row.keys()
        types = kinds(row)
        assert all(
            "NoneType" in {types[key], kind} or types[key] == kind for key, kind in kinds(theirs).items()
        )


def test_no_rows_and_no_such_report_are_answered_as_recorded(sample):
    bench = bench_of(sample)
    assert len(bench.eastmoney.margin("2026-08-22")) == 0  # a Saturday
    nothing = json.loads(bench.log.items[-1].body)
    bench.transport.close()
    url = f"{sample.http_url}/eastmoney/api/data/v1/get?reportName=RPT_NOBODY&columns=ALL"
    missing = httpx.get(url, trust_env=False).json()

    assert nothing == recorded("em_dc_empty_9201.json")
    file = recorded("em_dc_report_missing_9501.json")
    assert (file.keys() <= missing.keys(), missing["success"], missing["code"]) == (True, False, 9501)


def test_ids_of_the_disclosure_platform_have_the_recorded_keys(sample):
    (theirs,) = json.loads((FOLDERS / "cninfo/payloads/cninfo_stocklist_row.json").read_bytes())
    answer = httpx.get(f"{sample.http_url}/cninfo/new/data/szse_stock.json", trust_env=False).json()

    assert {str(kinds(row)) for row in answer["stockList"]} == {str(kinds(theirs))}


def test_money_flow_of_the_second_site_has_the_recorded_figures(sample):
    theirs = json.loads((FOLDERS / "sina/payloads/sina_moneyflow_001216.json").read_bytes())[0]
    bench = bench_of(sample)
    assert len(bench.sina.fund_flow(stock_of(sample), 5)) > 0
    made = json.loads(bench.log.items[-1].body.decode("gb18030"))
    bench.transport.close()

    for row in made:
        assert {key: kinds(row)[key] for key in theirs} == kinds(theirs)
        for key, value in theirs.items():
            assert len(row[key].partition(".")[2]) == len(value.partition(".")[2]), key


def test_bars_of_the_line_host_have_the_recorded_columns(sample):
    theirs = (FOLDERS / "ths/payloads/ths_last_600519_20260702.js").read_text(encoding="utf-8")
    bench = bench_of(sample)
    assert len(bench.ths.daily_bars(stock_of(sample))) > 0
    made = bench.log.items[-1].body.decode()
    bench.transport.close()

    def rows(text: str) -> list[list[str]]:
        document = json.loads(text[text.index("(") + 1 : text.rindex(")")])
        return [row.split(",") for row in document["data"].split(";")]

    assert made.partition("(")[0].startswith("quotebridge_v6_line_hs_")
    for row in rows(made):
        (known, *_) = rows(theirs)
        assert len(row) == len(known)
        assert [len(value.partition(".")[2]) for value in row] == [len(v.partition(".")[2]) for v in known]


RECORDS = {"sh600519": "stock", "sh688981": "star", "sh000001": "index", "sh510300": "etf", "sz161725": "lof"}
"""Recorded snapshot of the quote site -> what it is of."""


def like(sample: SimulatedMarket, symbol: str, kind: str) -> str:
    """A security of the sample of the same kind, board and market, that trades."""
    board = {"star": "star", "stock": "main"}.get(kind, "")
    for one in sample.world.securities(EVENING):
        quote = sample.world.quote(one, EVENING)
        same = one.kind == ("stock" if kind == "star" else kind) and one.market == symbol[:2].upper()
        if same and one.board == board and quote is not None and quote.volume:
            return one.symbol
    raise LookupError(kind)


def form(value: str) -> str:
    """What kind of text a field is: empty, a whole number, a number with so many decimals, other text."""
    if not value:
        return "empty"
    whole, dot, digits = value.removeprefix("-").partition(".")
    return f"{len(digits)} decimals" if whole.isdigit() and (not dot or digits.isdigit()) else "text"


@pytest.mark.parametrize("symbol", RECORDS)
def test_every_field_of_a_snapshot_has_its_recorded_form(sample, symbol):
    lines = (FOLDERS / "tencent/payloads/records.txt").read_text(encoding="utf-8").splitlines()
    theirs = next(line for line in lines if line.startswith(f'v_{symbol}="')).split('"')[1].split("~")
    address = f"{sample.http_url}/tencent/q={like(sample, symbol, RECORDS[symbol])}"
    made = httpx.get(address, trust_env=False).content.decode("gb18030").split('"')[1].split("~")

    assert len(made) == len(theirs)
    assert {at: (theirs[at], one) for at, one in enumerate(made) if form(one) != form(theirs[at])} == {}
    # After hours: the stamp of 16:14 or 16:15, as all recordings of an evening bear it.
    assert made[30][8:12] in {"1614", "1615"}


def test_the_snapshot_beside_bars_of_2026_has_the_session_after_hours(sample):
    recorded_bars = json.loads(
        (FOLDERS / "tencent/payloads/tencent_newfqkline_sh600000_202609.json").read_bytes()
    )
    theirs = recorded_bars["data"]["sh600000"]["qt"]["sh600000"]
    for symbol in (stock_of(sample), "sh000001"):
        bench = bench_of(sample)
        assert len(bench.tencent.daily_bars(symbol, count=20)) == 20
        entry = json.loads(bench.log.items[-1].body)["data"][symbol]
        bench.transport.close()
        made = entry["qt"][symbol]
        if symbol == "sh000001":
            assert float(made[38]) > 0
            assert float(made[45]) >= float(made[44]) > 0
            assert all(float(row[7]) > 0 and float(row[8]) > 0 for row in entry["day"])
        else:
            assert [form(made[at]) for at in (58, 59)] == [form(theirs[at]) for at in (58, 59)]
            assert float(made[58]) == pytest.approx(int(made[59]) * 100 * float(made[3]) / 1e4, abs=1e-4)


def test_lines_of_minutes_begin_with_the_auction(sample):
    symbol = stock_of(sample)
    for answered in (symbol, "sh000001"):
        bench = bench_of(sample)
        line, five = bench.tencent.intraday(answered), bench.tencent.five_day(answered)
        trends = bench.eastmoney.trends2(answered)
        bar = bench.tencent.daily_bars(answered, count=1).iloc[0]
        bench.transport.close()
        assert (len(line), len(five), len(trends)) == (241, 5 * 241, 241)
        for rows in (line, five.tail(241).reset_index(drop=True), trends):
            assert rows["datetime"].str[11:16].tolist()[:2] == ["09:30", "09:31"]
            assert rows["volume"].iloc[0] > 0
            # Rows of an index are cut to lots, each on its own.
            assert rows["volume"].sum() == pytest.approx(bar["volume"], rel=1e-4)
            assert rows["amount"].sum() == pytest.approx(bar["amount"], abs=100)
        first = trends.iloc[0]
        # The auction has one price, the open of the day: highs and lows of the day stay what they were.
        assert first["open"] == first["high"] == first["low"] == first["close"] == bar["open"]
        assert (trends["high"].max(), trends["low"].min()) == (bar["high"], bar["low"])


def test_each_security_has_a_stamp_of_its_own(sample):
    theirs = [row["f124"] for row in recorded("em_ulist_fltt2_20260930.json")["data"]["diff"]]
    assert len(set(theirs)) == len(theirs)
    listed = [one for one in sample.world.securities(EVENING) if one.kind == "stock"][:20]
    bench = bench_of(sample)
    bench.eastmoney.ulist([one.symbol for one in listed])
    stamps = [row["f124"] for row in json.loads(bench.log.items[-1].body)["data"]["diff"]]
    quotes = bench.tencent.quotes([one.symbol for one in listed])
    bench.transport.close()

    assert len(set(stamps)) > 10
    assert quotes["quote_time"].nunique() > 10
    assert quotes["quote_time"].str[11:16].isin(["16:14", "16:15"]).all()


@pytest.mark.parametrize("most", [1, 7, 0])
def test_series_are_as_long_as_asked(sample, most):
    secid = "1." + stock_of(sample)[2:]
    for path, whole in (("fflow/daykline", 100), ("fflow/kline", 240), ("kline", 300)):
        address = f"{sample.http_url}/eastmoney/api/qt/stock/{path}/get"
        asked = {"secid": secid, "klt": "101", "lmt": str(most), "beg": "0", "end": "20500101"}
        rows = httpx.get(address, params=asked, trust_env=False).json()["data"]["klines"]
        assert len(rows) == most if most else len(rows) >= whole


def test_the_data_centre_answers_plain_text(sample):
    address = f"{sample.http_url}/eastmoney/api/data/v1/get?reportName=RPT_NOBODY&columns=ALL"
    plain, wrapped = (httpx.get(address + more, trust_env=False) for more in ("", "&callback=cb"))
    assert plain.headers["content-type"].startswith("text/plain")
    assert wrapped.headers["content-type"].startswith("application/javascript")


def test_a_pool_has_rows_of_no_security_and_all_digits_of_its_figures(sample):
    bench = bench_of(sample)
    pools = [bench.eastmoney.limit_pool("up", day) for day in ("2026-08-20", "2026-08-21")]
    bodies = [json.loads(one.body)["data"]["pool"] for one in bench.log.items]
    bench.transport.close()
    raw = (FOLDERS / "eastmoney/payloads/em_ztpool_20240923.jsonp").read_text(encoding="utf-8")
    theirs = json.loads(raw[raw.index("(") + 1 : raw.rindex(")")])["data"]["pool"]

    assert [sum(row["c"] == "" for row in rows) for rows in bodies] == [1, 0]
    assert [len(pool) + empty for pool, empty in zip(pools, (1, 0), strict=True)] == [
        len(one) for one in bodies
    ]
    for name in ("hs", "zdp"):
        assert max(len(str(row[name])) for row in theirs) >= 15
        assert max(len(str(row[name])) for rows in bodies for row in rows) >= 15


def stock_of(sample: SimulatedMarket) -> str:
    """A stock that trades."""
    listed = sample.world.securities(EVENING)
    return next(one.symbol for one in listed if one.kind == "stock" and one.market == "SH")
