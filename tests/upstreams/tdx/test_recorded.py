"""Recorded answers parse to the values that the wire document states."""

import pytest
from pytdx.parser.get_minute_time_data import GetMinuteTimeData

from resources.rejections import noting
from resources.upstreams.tdx import (
    bars,
    catalogue,
    corporate,
    files,
    frames,
    minutes,
    quotes,
    renames,
    transactions,
)
from resources.upstreams.tdx.instruments import instrument
from resources.upstreams.tdx.primitives import read_varints
from tests.upstreams.tdx.recorded import document, framed, payload, sample

DAY = bars.PERIODS["day"]
PINGAN, PUFA, MOUTAI = instrument("sz000001"), instrument("sh600000"), instrument("sh600519")

TWENTY = (
    "sz000629 sz002209 sz002951 sz000638 sz002528 sz002423 sh600354 sh600302 sz002570 sz002900 sz002564 "
    "sz000736 sz002483 sh600703 sh600477 sz000831 sz300059 sh603367 sz002511 sz300673"
).split()


def row(columns, at=0):
    return {name: values[at] for name, values in columns.items()}


def test_greeting() -> None:
    greeting = frames.parse_hello(sample("login_frame_a"))

    assert (str(greeting.time), greeting.server_name) == ("2024-10-13 23:21:54", "上海双线主站14")


def test_what_a_server_says_of_itself() -> None:
    """427 bytes: its clock, its build and the places of its lists."""
    reported = frames.parse_server_info(sample("server_info_frame"))

    assert str(reported.time) == "2025-06-01 14:25:26"
    assert (reported.info, reported.content) == ("20250530_084707", "/tdx/hostl/")


def test_heartbeat_of_old_and_new_servers() -> None:
    assert frames.parse_heartbeat(bytes(10)) == 0
    assert frames.parse_heartbeat(bytes(6) + bytes.fromhex("a2ff3401")) == 20250530


def test_quotes_of_two_stocks() -> None:
    columns = quotes.parse_quotes(sample("quote_frame_a"), [PINGAN, instrument("sh600008")])

    first, second = row(columns), row(columns, 1)
    assert [first[name] for name in ("price", "last_close", "open", "high", "low")] == [
        12.02,
        11.90,
        11.80,
        12.18,
        11.77,
    ]
    assert (first["quote_time"], second["quote_time"]) == ("13:25:17", "13:25:21")
    assert (first["volume"], first["current_volume"], first["amount"]) == (137_727_100, 11_000, 1654559872.0)
    assert (first["inner_volume"], first["outer_volume"]) == (52_986_700, 84_740_400)
    assert first["open_amount"] == 25_050_200
    assert [(first[f"bid{n}"], first[f"bid{n}_vol"]) for n in range(1, 6)] == [
        (12.02, 350_300),
        (12.01, 664_400),
        (12.00, 887_000),
        (11.99, 160_900),
        (11.98, 243_800),
    ]
    assert [(second[f"ask{n}"], second[f"ask{n}_vol"]) for n in range(1, 6)] == [
        (3.20, 9_300),
        (3.21, 4_038_800),
        (3.22, 6_040_700),
        (3.23, 3_864_900),
        (3.24, 3_822_100),
    ]
    assert (first["speed_pct"], second["speed_pct"]) == (-0.24, 0.0)
    assert not any(columns["suspended"] + columns["unknown"])


def test_quotes_equal_the_values_that_another_decoder_recorded() -> None:
    recording = document("tdx_quotes_raw.json")
    asked = [PINGAN, MOUTAI]

    columns = quotes.parse_quotes(payload("tdx_quotes_raw.json", "raw_hex"), asked)

    for at, theirs in enumerate(recording["decoded"]):
        ours = row(columns, at)
        for name in ("price", "last_close", "open", "high", "low", "amount"):
            assert ours[name] == theirs[name]
        assert ours["volume"] == theirs["vol"] * 100
        assert ours["current_volume"] == theirs["cur_vol"] * 100
        assert ours["inner_volume"] == theirs["s_vol"] * 100
        for level in range(1, 6):
            assert ours[f"bid{level}"] == theirs[f"bid{level}"]
            assert ours[f"ask{level}_vol"] == theirs[f"ask_vol{level}"] * 100
        assert ours["quote_time"] == theirs["servertime"].split(".")[0]


def test_quote_of_600000_equals_the_recorded_expectation() -> None:
    recording = document("tdx_quotes_600000.json")
    theirs = recording["expected"][0]

    ours = row(quotes.parse_quotes(payload("tdx_quotes_600000.json", "body_hex"), [PUFA]))

    assert ours["price"] == theirs["close"] / 100
    assert ours["volume"] == theirs["vol"] * 100
    assert ours["open_amount"] == theirs["open_amount"] * 100
    assert ours["speed_pct"] == theirs["rise_speed"] / 100
    assert [ours[f"bid{n + 1}"] for n in range(5)] == [at["price"] / 100 for at in theirs["handicap"]["bid"]]
    assert [ours[f"ask{n + 1}_vol"] for n in range(5)] == [
        at["vol"] * 100 for at in theirs["handicap"]["ask"]
    ]


def test_snapshot_with_one_level() -> None:
    ours = row(quotes.parse_quotes(sample("snap054c_b"), [instrument("sz002423")], levels=1))

    assert [ours[name] for name in ("price", "last_close", "open", "high", "low")] == [
        7.67,
        7.25,
        7.27,
        7.76,
        7.27,
    ]
    assert (ours["volume"], ours["amount"]) == (46_332_500, 350667104.0)
    assert (ours["bid1"], ours["bid1_vol"], ours["ask1"], ours["ask1_vol"]) == (7.66, 84_800, 7.67, 156_500)


def test_twenty_snapshots_with_the_form_of_chinext() -> None:
    codes, body = TWENTY, framed(bytes.fromhex(document("tdx_snapshots_20_stocks.json")["hex"]))

    columns = quotes.parse_quotes(body, [instrument(code) for code in codes], levels=1)

    assert columns["symbol"] == codes
    assert not any(columns["unknown"])
    chinext = row(columns, codes.index("sz300059"))
    assert [chinext[name] for name in ("price", "last_close", "open", "high", "low")] == [
        20.46,
        19.72,
        20.00,
        20.51,
        20.00,
    ]
    assert (chinext["volume"], chinext["amount"]) == (146_319_600, 2960993536.0)
    assert chinext["quote_time"] == "11:24:00"


def test_an_odd_row_of_a_page_of_quotes_costs_that_row() -> None:
    body = bytearray(framed(bytes.fromhex(document("tdx_snapshots_20_stocks.json")["hex"])))
    at = body.index(b"000629") + 8
    _, behind_low = read_varints(body, at, 5)
    _, check = read_varints(body, behind_low, 1)
    body[check] ^= 0x40  # the sign of the value that mirrors the price

    with noting() as rejected:
        columns = quotes.parse_quotes(bytes(body), [instrument(code) for code in TWENTY], levels=1)

    assert [code for code, odd in zip(TWENTY, columns["unknown"], strict=True) if odd] == ["sz000629"]
    assert rejected == [("sz000629", "price 507, check value 507")]


def test_day_bars_in_lots() -> None:
    columns = bars.parse_bars(sample("kline_body_a"), PINGAN, DAY)

    assert len(columns["date"]) == 10
    assert row(columns) == {
        "date": "2024-10-16",
        "open": 11.80,
        "high": 12.18,
        "low": 11.77,
        "close": 12.06,
        "volume": 191_449_300,
        "amount": 2301340928.0,
    }
    assert row(columns, 9) == {
        "date": "2024-10-29",
        "open": 11.62,
        "high": 11.74,
        "low": 11.53,
        "close": 11.54,
        "volume": 119_802_400,
        "amount": 1391150208.0,
    }


def test_index_bars_in_hundreds_of_lots() -> None:
    body = sample("eltdx_kline_INDEX_DAY_PAYLOAD_HEX")

    columns = bars.parse_bars(body, instrument("sh000001"), DAY)

    assert columns["close"] == [4082.47, 4108.57, 4124.19]
    assert columns["volume"] == [76_516_950_000, 68_974_650_000, 64_676_570_000]
    assert columns["amount"][0] == 1113082036224.0
    assert list(zip(columns["up_count"], columns["down_count"], strict=True)) == [
        (612, 1686),
        (1726, 562),
        (1808, 492),
    ]


def test_absolute_bars_in_shares() -> None:
    theirs = document("tdx_kline_600000_day.json")["expected"]

    columns = bars.parse_bars(payload("tdx_kline_600000_day.json", "body_hex"), PUFA, DAY, absolute=True)

    assert [f"{day} 15:00:00" for day in columns["date"]] == [bar["datetime"] for bar in theirs]
    for name in ("open", "high", "low", "close"):
        assert columns[name] == [bar[name] / 1000 for bar in theirs]
    assert columns["volume"] == [bar["vol"] for bar in theirs]
    assert columns["amount"] == [bar["amount"] for bar in theirs]


def test_absolute_bars_are_in_thousandths_as_their_mean_price_shows() -> None:
    # A client that divides by the security's two decimals reads 93.70 where a share cost 9.37 on average.
    columns = bars.parse_bars(payload("tdx_kline_600000_day.json", "body_hex"), PUFA, DAY, absolute=True)

    for at, volume in enumerate(columns["volume"]):
        assert columns["low"][at] <= columns["amount"][at] / volume <= columns["high"][at]


@pytest.mark.parametrize(
    ("key", "parse", "noon"),
    [
        ("eltdx_minute_PAYLOAD_HEX", minutes.parse_history, 69_900),
        ("eltdx_minute_LIVE_PAYLOAD_HEX_SZ", minutes.parse_today, 70_100),
    ],
)
def test_minutes(key, parse, noon) -> None:
    columns = parse(sample(key), PINGAN, "2026-03-06")

    assert len(columns["price"]) == 240
    assert row(columns)["datetime"] == "2026-03-06 09:31:00"
    assert (columns["price"][0], columns["volume"][0]) == (10.82, 1_655_700)
    assert (columns["price"][1], columns["volume"][1]) == (10.81, 980_000)
    assert (columns["datetime"][119], columns["price"][119], columns["volume"][119]) == (
        "2026-03-06 11:30:00",
        10.79,
        noon,
    )
    assert columns["datetime"][120] == "2026-03-06 13:01:00"
    assert (columns["datetime"][239], columns["price"][239], columns["volume"][239]) == (
        "2026-03-06 15:00:00",
        10.82,
        676_800,
    )
    assert sum(columns["volume"]) == 47_657_700


def test_an_older_client_reads_the_rows_of_today_behind_the_quote_head() -> None:
    """Servers of 2026 put a quote before the rows, which older clients (pytdx, tdxpy) read as rows."""
    whole = sample("eltdx_minute_LIVE_PAYLOAD_HEX_SZ")
    reader = GetMinuteTimeData(None)
    theirs = reader.parseResponse(whole[:4] + whole[67:])
    ours = minutes.parse_today(whole, PINGAN, "2026-03-06")

    assert [one["vol"] * 100 for one in theirs] == ours["volume"]
    assert [round(one["price"], 2) for one in theirs] == ours["price"]
    assert reader.parseResponse(whole)[0]["price"] == 0.0


def test_minutes_of_2017_without_a_quote_head() -> None:
    # The recording is a prefix: its first four rows, under a count of four.
    body = bytes.fromhex("0400 0000 a208ce038d2c 028302972f 4124b11a 00219821")

    columns = minutes.parse_today(body, instrument("sh600300"), "2017-06-13")

    assert columns["price"] == [5.46, 5.48, 5.47, 5.47]
    assert columns["volume"] == [282_900, 303_100, 171_300, 213_600]


def test_transactions_of_today() -> None:
    body = sample("eltdx_trade_LIVE_PAYLOAD_HEX")

    columns = transactions.parse_transactions(body, transactions.TODAY, PINGAN, "2026-03-06", limit=10)

    assert row(columns) == {
        "date": "2026-03-06",
        "time": "14:56:00",
        "price": 10.83,
        "volume": 10_200,
        "orders": 11.0,
        "side": 0,
    }
    assert (columns["time"][-1], columns["price"][-1], columns["volume"][-1]) == ("15:00:00", 10.82, 676_800)
    assert (columns["orders"][-1], columns["side"]) == (287.0, [0, 0, 0, 0, 0, 1, 0, 1, 0, 2])


def test_transactions_of_a_past_date() -> None:
    body = sample("eltdx_trade_HIST_PAYLOAD_HEX")

    columns = transactions.parse_transactions(body, transactions.HISTORY, PINGAN, "2026-03-05", limit=10)

    lots = [37, 37, 88, 145, 2, 5, 61, 35, 3, 10321]
    assert columns["volume"] == [100 * each for each in lots]
    assert columns["price"] == [10.82, 10.82, 10.82, 10.81, 10.82, 10.81, 10.81, 10.81, 10.82, 10.81]
    assert columns["time"] == ["14:56:00"] * 8 + ["14:57:00", "15:00:00"]


def test_transactions_with_unknown_sides_keep_them() -> None:
    body = payload("tdx_ticks_raw.json", "ticks_600519")

    columns = transactions.parse_transactions(body, transactions.TODAY, MOUTAI, "2026-06-22", limit=12)

    assert columns["side"] == [8] * 11 + [2]
    assert (columns["price"][-1], columns["volume"][-1]) == (1215.0, 178_800)


def test_auction() -> None:
    columns = transactions.parse_auction(sample("auction_body"), PINGAN)

    assert len(columns["time"]) == 84
    assert row(columns) == {
        "time": "09:15:00",
        "price": 11.55,
        "matched_volume": 30_800,
        "unmatched_volume": 2_700,
    }
    assert (columns["time"][1], columns["unmatched_volume"][1]) == ("09:15:09", 193_200)
    assert row(columns, -1) == {
        "time": "14:59:51",
        "price": 11.69,
        "matched_volume": 1_101_900,
        "unmatched_volume": -29_700,
    }


def test_capital_changes() -> None:
    columns = corporate.parse_xdxr(payload("tdx_gbbq_sz000001.hex"), PINGAN)

    assert len(columns["date"]) == 78
    assert (columns["date"][0], columns["rights_price"][0], columns["rights_per10"][0]) == (
        "1990-03-01",
        3.56,
        1.0,
    )
    assert (columns["cash_per10"][2], columns["bonus_per10"][2]) == (3.0, 4.0)
    assert (columns["float_before"][3], columns["total_after"][3]) == (26_500_000.0, 89_751_641.0)
    assert (columns["date"][-1], columns["cash_per10"][-1], columns["name"][-1]) == (
        "2025-10-15",
        2.36,
        "除权除息",
    )


def test_finance_of_2017_in_thousands() -> None:
    ours = row(corporate.parse_finance(sample("finance_frame"), PINGAN))

    assert ours["money_factor"] == 1000
    assert ours["total_assets"] == 3_006_194_944_000
    assert ours["net_profit"] == 6_214_000_000
    assert (ours["bvps"], ours["eps"], ours["holders"]) == (10.94, 0.31, 371_177)
    assert (ours["float_shares"], ours["total_shares"]) == (16_917_990_000, 17_170_411_250)
    assert (ours["report_period"], ours["updated_date"], ours["ipo_date"]) == (
        "2017-03-31",
        "2017-04-28",
        "1991-04-03",
    )


def test_finance_equals_the_values_that_another_decoder_recorded() -> None:
    theirs = document("tdx_finance_raw.json")["decoded"]

    ours = row(corporate.parse_finance(payload("tdx_finance_raw.json", "finance_600519"), MOUTAI))

    assert ours["total_shares"] == round(theirs["total_shares"])
    assert ours["holders"] == theirs["holders"]
    assert ours["bvps"] == pytest.approx(theirs["bvps"], abs=1e-4)
    assert (ours["ipo_date"], ours["updated_date"]) == (theirs["ipo_date"], theirs["report_date"])
    # Net assets per share meet the record's own figure.
    assert ours["net_assets"] / ours["total_shares"] == pytest.approx(ours["bvps"], rel=0.01)


def test_security_counts() -> None:
    assert catalogue.parse_count(bytes.fromhex("e719")) == 6631
    assert catalogue.parse_count(payload("tdx_securities_raw.json", "count_sz")) == 0x5BBD


def test_a_full_page_of_the_security_list() -> None:
    columns = catalogue.parse_list(payload("tdx_securities_raw.json", "list_sz_page0"), 0)

    assert len(columns["code"]) == 1000
    assert row(columns) == {
        "code": "395001",
        "market": "SZ",
        "symbol": "sz395001",
        "name": "主板Ａ股",
        "volume_unit": 100,
        "decimals": 2,
        "pre_close": 1494.0,
    }
    assert "深证成指" in columns["name"]
    assert "�" not in "".join(columns["name"])


def test_first_blocks_of_the_index_file() -> None:
    members = "".join(code.encode().hex() + "00" for code in ("399001", "399005", "399006", "399106"))
    record = bytes.fromhex("beabd1a1d6b8cafd00 0400 0200" + members).ljust(2813, b"\0")
    content = b"Registry ver:1.0 (1999-9-28)".ljust(384, b"\0") + b"\x01\0" + record

    assert files.parse_blocks(content) == [("精选指数", ["399001", "399005", "399006", "399106"])]


def test_industry_lines() -> None:
    assert files.parse_industries(b"0|000001|T1001|||X500102\r\n") == [(0, "000001", "T1001")]
    (index,) = files.parse_block_indices("轮动趋势|880081|5|2|0|轮动趋势\r\n".encode("gb18030"))
    assert (index.name, index.code, index.type_number) == ("轮动趋势", "880081", "5")


# The first records of a terminal's own file: mootdx/mootdx:tests/fixtures/T0002/hq_cache/profile.dat@e99ae34.
FORMER_NAMES = (
    "00 303030303031 00 c9eeb7a2d5b9410000 511b3201",
    "00 303030303031 00 53c9eeb7a2d5b94100 dc403201",
    "00 303032333731 00 c6dfd0c7b5e7d7d300 f0c53301",
    "01 393030393436 00 2a5354ccecd1e34200 ee3b3401",
)


def test_former_names_with_the_first_day_of_the_next_one() -> None:
    content = b"".join(bytes.fromhex(record).ljust(64, b"\0") for record in FORMER_NAMES)

    columns = renames.parse_renames(content)

    assert list(zip(columns["symbol"], columns["old_name"], columns["renamed_on"], strict=True)) == [
        ("sz000001", "深发展A", "2006-10-09"),
        ("sz000001", "S深发展A", "2007-06-20"),
        ("sz002371", "七星电子", "2017-02-24"),
        ("sh900946", "*ST天雁B", "2020-04-30"),
    ]
