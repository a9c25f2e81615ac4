"""Markets outside the mainland in the formats of two sites: forms of the records, and rejected ones."""

import json
from typing import Any

import pytest

from core.errors import PayloadError, Refused
from resources.upstreams.eastmoney.quotes.foreign_markets import parse_outside as parse_portal
from resources.upstreams.parsing.foreign_markets import SERIES
from resources.upstreams.sina.outside import parse_outside as parse_site

RECORDS = {
    "gb_$inx": "标普500指数,6411.3700,0.16,2026-08-21 04:20:25,10.2500,6400.1100,6420.9900,6390.0100,"
    "6500.0,5000.0,3426321507,3509670750,0,0.00,--,0.00,0.00,0.00,0.00,0,0,0.0000,0.00,0.0000,,"
    "Aug 20 04:20PM EDT,6401.1200,0,1,2026",
    "rt_hkHSI": "HSI,恒生指数,25030.110,25010.500,25101.230,24950.000,25084.790,74.290,0.297,0.000,0.000,"
    "98000000.0,0,0.000,0.000,26000.0,20000.0,2026/08/21,10:30:12,,",
    "DINIW": "10:29:58,98.3480,98.3480,98.2680,2601,98.2520,98.3940,98.2410,98.3480,美元指数,2026-08-21",
    "fx_susdcnh": "10:29:59,7.1198,7.1200,7.1216,61,7.1226,7.1229,7.1168,7.1198,离岸人民币（香港）,-0.03,"
    "-0.0018,0.0009,,7.3957,6.9950,,2026-08-21",
    "hf_CL": "70.350,,70.340,70.360,71.020,69.880,10:30:01,69.900,69.950,98112,1,2,2026-08-21,纽约原油,0",
    "hf_GC": "3421.400,,3421.300,3421.600,3430.100,3409.900,10:30:01,3415.200,3414.800,0,1,5,2026-08-21,"
    "纽约黄金,0",
}


def site(**changed: str) -> bytes:
    records = {**RECORDS, **{name: text for name, text in changed.items() if name in RECORDS}}
    return "".join(f'var hq_str_{name}="{text}";\n' for name, text in records.items()).encode("gb18030")


def portal(**changed: Any) -> bytes:
    rows = [
        {"f2": 100.0 + at, "f12": one.secid.partition(".")[2], "f13": int(one.secid.partition(".")[0]),
         "f14": one.name, "f15": 110.0 + at, "f16": 95.0, "f17": 99.0, "f18": 98.0, "f124": 1787279401}
        for at, one in enumerate(SERIES.values())
    ]  # fmt: skip
    rows[0].update(changed)
    data = {"total": len(rows), "diff": rows}
    return json.dumps({"rc": 0, "rt": 11, "data": data}, ensure_ascii=False).encode()


def test_every_form_of_the_second_site() -> None:
    rows = parse_site(site()).set_index("series")
    assert rows.index.tolist() == list(SERIES)
    reported = {name: (row["price"], row["last_close"], row["quote_time"]) for name, row in rows.iterrows()}
    assert reported == {
        "spx": (6411.37, 6401.12, "2026-08-21 04:20:25"),
        "hsi": (25084.79, 25010.5, "2026-08-21 10:30:12"),
        "dxy": (98.348, 98.268, "2026-08-21 10:29:58"),
        "usdcnh": (7.1198, 7.1216, "2026-08-21 10:29:59"),
        "oil": (70.35, 69.9, "2026-08-21 10:30:01"),
        "gold": (3421.4, 3415.2, "2026-08-21 10:30:01"),
    }


def test_a_series_that_the_site_does_not_know_has_no_row() -> None:
    assert "oil" not in set(parse_site(site(hf_CL=""))["series"])


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        ("hf_CL", "70.350,,70.340"),
        ("hf_CL", RECORDS["hf_CL"].replace("69.880", "70.900")),
        ("hf_GC", RECORDS["hf_GC"].replace("3421.400", "-1")),
        ("fx_susdcnh", RECORDS["fx_susdcnh"].replace("-0.0018", "0.0500")),
        ("rt_hkHSI", RECORDS["rt_hkHSI"].replace("74.290", "-740.290")),
        ("DINIW", RECORDS["DINIW"].replace("2026-08-21", "2026-13-41")),
    ],
)
def test_rejected_records(symbol: str, text: str) -> None:
    with pytest.raises(PayloadError, match=r"hf_|fx_|rt_hk|DINIW"):
        parse_site(site(**{symbol: text}))


def test_a_throttled_client_gets_the_error_of_it() -> None:
    with pytest.raises(Refused):
        parse_site("拒绝访问".encode("gb18030"))


def test_rows_of_the_portal() -> None:
    rows = parse_portal(portal())
    assert rows["series"].tolist() == list(SERIES)
    assert rows["quote_time"].iloc[0] == "2026-08-21 10:30:01"
    assert rows["last_close"].tolist() == [98.0] * 6
    assert len(parse_portal(portal(f2="-"))) == 5


@pytest.mark.parametrize(
    "changed", [{"f12": "DJIA"}, {"f18": "-"}, {"f16": 200.0}, {"f124": 0}, {"f2": "many"}]
)
def test_rejected_rows_of_the_portal(changed: dict[str, Any]) -> None:
    with pytest.raises(PayloadError):
        parse_portal(portal(**changed))
