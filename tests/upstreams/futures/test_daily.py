"""Daily files of the six futures exchanges: what they have in common, and each one's own traps."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError, Permanent, Refused
from resources.rejections import noting
from resources.upstreams.eastmoney.quotes import futures as portal
from resources.upstreams.futures.client import CALLS, FUTURES_COLUMNS, FuturesClient
from tests.upstreams.eastmoney.test_reports import Pages
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_json, damaged_text, quick

DAY = "2026-09-28"
GOLD = {
    "PRODUCTID": "au_f    ", "PRODUCTGROUPID": "au      ", "PRODUCTNAME": "黄金      ",
    "DELIVERYMONTH": "2612", "PRESETTLEMENTPRICE": 595.0, "OPENPRICE": 597.38, "HIGHESTPRICE": 604.4,
    "LOWESTPRICE": 597.18,
    "CLOSEPRICE": 603.3, "SETTLEMENTPRICE": 600.5, "VOLUME": 170494, "OPENINTEREST": 196568,
    "OPENINTERESTCHG": -120, "TURNOVER": 10_238_164.7,
}  # fmt: skip
IDLE = {**GOLD, "DELIVERYMONTH": "2702", "VOLUME": 0, "OPENPRICE": "", "HIGHESTPRICE": "", "LOWESTPRICE": "",
        "TURNOVER": 0}  # fmt: skip
SUMS = [{**GOLD, "DELIVERYMONTH": month} for month in ("小计", "合计", "", "efp")]
DALIAN = {
    "variety": "豆一", "contractId": "a2611", "open": "3,900", "high": "3,950", "low": "3,890",
    "close": "3,940", "lastClear": "3,905", "clearPrice": "3,921", "diff": "35", "diff1": "16",
    "volumn": "120,000", "openInterest": "150,000", "diffI": "-1,000", "turnover": "470,520.00",
}  # fmt: skip
SILICON = {
    **DALIAN,
    "variety": "工业硅",
    "varietyOrder": "si",
    "delivMonth": "2611",
    "turnover": "235,260.00",
}
CSV = (
    "合约代码,今开盘,最高价,最低价,成交量,成交金额,持仓量,持仓变化,今收盘,今结算,前结算,涨跌1,涨跌2,Delta\r\n"
    "IF2610    ,4100.0,4160.2,4090.4,80000,9900000.0,150000,-300.0,4150.0,4130.4,4098.2,51.8,32.2,--\r\n"
    "小计,,,,80000,9900000.0,150000,-300,,,,,,\r\n"
    "IO2610-C-4000,100,120,90,10,11.0,20,1,110,110,100,10,10,0.5\r\n合计,,,,1,1.0,1,1,,,,,,\r\n"
)
PIPES = (
    "郑州商品交易所每日行情表(2026-09-28)\r\n"
    "合约代码  |昨结算|今开盘|最高价|最低价|今收盘|今结算|涨跌1|涨跌2|成交量(手)|持仓量|增减量|"
    "成交额(万元)|交割结算价\r\n"
    "AP610     |8,500.00|8,510.00|8,600.00|8,480.00|8,590.00|8,560.00|90.00|60.00|90,000|120,000|-500|"
    "770,400.00|\r\n"
    "小计||||||||||120,000|1|1.00|\r\n总计||||||||||1|1|1.00|\r\n"
)


def shanghai(*rows: dict[str, Any], day: str = "20260928") -> bytes:
    return json.dumps({"o_curinstrument": list(rows), "report_date": day}).encode()


def dalian(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"success": True, "data": list(rows)}).encode()


def guangzhou(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"code": "0", "data": list(rows)}).encode()


SAMPLES: dict[str, bytes] = {
    "shfe": shanghai(GOLD, IDLE, *SUMS),
    "ine": shanghai({**GOLD, "PRODUCTID": "sc_f  ", "PRODUCTNAME": "原油"}),
    "cffex": CSV.encode("gb2312"),
    "dce": dalian(DALIAN, {**DALIAN, "variety": "豆一小计", "contractId": ""}),
    "czce": PIPES.encode(),
    "gfex": guangzhou(SILICON, {**SILICON, "variety": "总计", "delivMonth": ""}),
}


def parse(exchange: str, body: bytes | None = None, day: str = DAY) -> Any:
    return CALLS[exchange][1](SAMPLES[exchange] if body is None else body, day=day)


@pytest.mark.parametrize(
    ("exchange", "symbol", "name", "close", "turnover"),
    [
        ("shfe", "au2612", "黄金2612", 603.3, 10_238_164.7),
        ("ine", "sc2612", "原油2612", 603.3, 10_238_164.7),
        ("cffex", "IF2610", "沪深300股指2610", 4150.0, 9_900_000.0),
        ("dce", "a2611", "豆一2611", 3940.0, 470_520.0),
        ("czce", "AP2610", "苹果2610", 8590.0, 770_400.0),
        ("gfex", "si2611", "工业硅2611", 3940.0, 235_260.0),
    ],
)
def test_contracts_without_sums(exchange: str, symbol: str, name: str, close: float, turnover: float) -> None:
    rows = parse(exchange)

    first = rows.iloc[0]
    assert list(rows.columns) == list(FUTURES_COLUMNS)
    assert (first["symbol"], first["name"], first["exchange"]) == (symbol, name, exchange.upper())
    assert (first["close"], first["amount_wan"], first["date"]) == (close, turnover, DAY)
    assert set(rows["symbol"].str[-4:]) <= {"2612", "2702", "2610", "2611"}


def test_a_contract_without_a_trade_has_no_open_high_and_low() -> None:
    idle = parse("shfe").iloc[1]
    assert idle[["open", "high", "low"]].isna().all()
    assert (idle["close"], idle["settle"], idle["volume_contracts"]) == (603.3, 600.5, 0)


def test_the_year_of_zhengzhou_has_one_digit() -> None:
    assert parse("czce", PIPES.replace("AP610", "AP701").encode()).iloc[0]["symbol"] == "AP2701"
    assert (
        parse("czce", PIPES.replace("AP610", "AP501").replace("2026", "2025").encode(), "2025-09-28").iloc[0][
            "symbol"
        ]
        == "AP2501"
    )
    assert parse("czce", PIPES.encode("gbk")).iloc[0]["name"] == "苹果2610"
    for encoding in ("utf-8", "gbk"):
        with pytest.raises(PayloadError, match="error page"):
            parse("czce", "<html>您的访问出错了</html>".encode(encoding))


@pytest.mark.parametrize(
    ("exchange", "body", "reason"),
    [
        ("shfe", shanghai(GOLD, day="20260925"), "asked was"),
        ("shfe", shanghai({**GOLD, "TURNOVER": 1_023_816_470.0 * 100}), "another unit"),
        ("shfe", shanghai({**GOLD, "LOWESTPRICE": -1}), "below zero"),
        ("shfe", shanghai({**GOLD, "HIGHESTPRICE": 590.0}), "enclose"),
        ("shfe", shanghai({**GOLD, "VOLUME": 1.5}), "not whole"),
        ("shfe", shanghai({**GOLD, "DELIVERYMONTH": "2613"}), "no contract"),
        ("shfe", shanghai({**GOLD, "TURNOVER": 1_023_816.47}, *SUMS), "another unit"),
        ("shfe", shanghai({**GOLD, "TURNOVER": 20_476_329.4}), "another unit"),
        ("shfe", shanghai({**GOLD, "VOLUME": 340_988}), "another unit"),
        ("shfe", shanghai({k: v for k, v in GOLD.items() if k != "OPENINTEREST"}), "no field OPENINTEREST"),
        ("dce", b'{"success":false,"data":null}', "success"),
        ("dce", dalian({**DALIAN, "settle": 1, "clearPrice": "-"}), "missing"),
        ("gfex", b'{"code":"1","data":[]}', "code"),
        ("cffex", CSV.encode("utf-16"), "cffex"),
        ("cffex", CSV.splitlines()[0].encode("gb2312"), "without a contract"),
        ("cffex", CSV.replace("4150.0", "41\r50.0").encode("gb2312"), "separated"),
        ("cffex", CSV.replace("持仓量", "持仓").encode("gb2312"), "heads"),
        ("czce", PIPES.replace("2026-09-28", "2026-09-25").encode(), "asked was"),
        ("czce", PIPES.replace("|昨结算", "|昨收").encode(), "heads"),
    ],
)
def test_rejected_answers(exchange: str, body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        parse(exchange, body)


def many(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """The months of thirty contracts, and `more`."""
    months = [f"{27 + at // 12}{at % 12 + 1:02d}" for at in range(30)]
    return [*({**GOLD, "DELIVERYMONTH": month} for month in months), *more]


def test_a_contract_that_is_odd_or_comes_again_costs_its_row() -> None:
    with noting() as rejected:
        rows = parse(
            "shfe", shanghai(*many(GOLD, {**GOLD, "SETTLEMENTPRICE": None, "DELIVERYMONTH": "3001"}))
        )
    assert len(rows) == 31
    assert [item for item, _ in rejected] == ["au_f3001"]

    with noting() as rejected:
        rows = parse("shfe", shanghai(*many(GOLD, GOLD, {**GOLD, "CLOSEPRICE": 600.0})))
    assert len(rows) == 31
    assert rows[rows["symbol"] == "au2612"]["close"].tolist() == [603.3]
    assert [(item, reason.split()[0]) for item, reason in rejected] == [
        ("au2612", "repeats"),
        ("au2612", "contradicts"),
    ]
    with pytest.raises(PayloadError, match="30 of 60; au2701: repeats"):
        parse("shfe", shanghai(*many(*many())))


def test_contracts_on_the_mean_of_a_month_are_products_of_their_own() -> None:
    """Of three products Dalian lists them beside the others: more than the share of rows that may be odd."""
    means = [
        {**DALIAN, "variety": "聚乙烯月均价", "contractId": f"l26{month:02d}F", "turnover": "235,260.00"}
        for month in range(1, 13)
    ]
    with noting() as rejected:
        rows = parse("dce", dalian(DALIAN, *means))

    assert rejected == []
    assert rows["symbol"].tolist() == ["a2611", *(row["contractId"] for row in means)]
    assert set(rows["product"]) == {"a", "lF"}
    assert rows["name"].iloc[1] == "聚乙烯月均价2601"
    assert rows["amount_wan"].iloc[1] == 235_260.0
    with pytest.raises(PayloadError, match="another unit"):
        parse("dce", dalian(*({**row, "turnover": "470,520.00"} for row in means)))


class Missing:
    def __init__(self, status: int) -> None:
        self.status = status

    def call(self, request: Any, parse: Any) -> Any:
        raise Permanent(f"www.dce.com.cn: HTTP {self.status}")


def test_no_file_is_no_trading_and_a_wall_is_a_failure() -> None:
    assert FuturesClient(Missing(404), "shfe").daily(DAY).empty
    with pytest.raises(Permanent):
        FuturesClient(Missing(412), "dce").daily(DAY)
    assert parse("dce", dalian()).empty
    assert parse("gfex", guangzhou()).empty
    with pytest.raises(Refused):
        parse("shfe", b"<html>captcha</html>")


def test_each_is_asked_in_its_own_way() -> None:
    asked = {}
    for exchange, sample in SAMPLES.items():
        pages = Pages(sample)
        FuturesClient(pages, exchange).daily(DAY)
        asked[exchange] = pages.asked[0]
    assert asked["ine"].path.endswith("/kx20260928.dat")
    assert asked["cffex"].path == "/sj/hqsj/rtj/202609/28/20260928_1.csv"
    assert asked["czce"].path.endswith("/2026/20260928/FutureDataDaily.txt")
    assert json.loads(asked["dce"].content)["tradeDate"] == "20260928"
    assert (asked["gfex"].method, asked["gfex"].content) == ("POST", b"trade_date=20260928&trade_type=0")


def test_bars_of_the_portal_have_open_interest() -> None:
    def reported(*lines: str) -> bytes:
        return json.dumps(
            {"rc": 0, "data": {"code": "au2612", "market": 113, "klines": list(lines)}}
        ).encode()

    line = f"{DAY},597.38,603.3,604.4,597.18,170494,102381647000.00,196568"
    row = portal.parse_bars(reported(line), "113.au2612", DAY, DAY).iloc[0]
    assert (row["close"], row["amount_wan"], row["open_interest"]) == (603.3, 10_238_164.7, 196568)
    with pytest.raises(PayloadError, match="asked for"):
        portal.parse_bars(reported(line), "113.au2702", DAY, DAY)
    with pytest.raises(PayloadError, match="another unit"):
        portal.parse_bars(reported(line.replace("102381647000", "51190823500")), "113.au2612", DAY, DAY)
    with pytest.raises(PayloadError, match="7 values"):
        portal.parse_bars(reported(line.rpartition(",")[0]), "113.au2612", DAY, DAY)


@quick
@given(st.data())
def test_damaged_files(data: st.DataObject) -> None:
    exchange = data.draw(st.sampled_from(sorted(SAMPLES)))
    body = SAMPLES[exchange]
    kinds = [damaged_bytes(body)]
    if exchange in {"cffex", "czce"}:
        text = CSV if exchange == "cffex" else PIPES
        kinds.append(
            damaged_text(text, "," if exchange == "cffex" else "|").map(lambda one: one.encode("gb18030"))
        )
    else:
        kinds.append(damaged_json(body))
    try:
        rows = parse(exchange, data.draw(st.one_of(kinds)))
    except ACCEPTED:
        return
    assert list(rows.columns) == list(FUTURES_COLUMNS)
    assert rows["symbol"].str.fullmatch(r"[A-Za-z]{1,3}\d{4}F?").all()
    assert not (rows[["close", "settle", "volume_contracts"]] < 0).any().any()
