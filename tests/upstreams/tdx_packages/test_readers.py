"""Readers of the publisher's files: real files, another client's readers, and files that lie."""

import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import PayloadError
from resources.upstreams.tdx_packages.day_files import read_day, symbol_of
from resources.upstreams.tdx_packages.day_packages import date_of, read_date
from resources.upstreams.tdx_packages.events import read_events
from resources.upstreams.tdx_packages.minute_files import read_minutes
from resources.upstreams.tdx_packages.reports import read_report_list, read_reports
from tests.upstreams.tdx_packages.written import date_members, day_file, event_file, flat_bars, report_file

EVENTS = [
    (1, "600519", 20260630, 1, 280.24, 0.0, 0.0, 0.0),
    (0, "000001", 20251015, 1, 2.36, 0.0, 0.0, 0.0),
    (2, "920002", 20250101, 5, 7000.5, 10000.0, 7100.25, 10000.0),
]


@pytest.fixture
def real_files(real_data_dir: Path) -> Path:
    return real_data_dir / "tdx_files"


# -- real files ---------------------------------------------------------------------------------------


@pytest.mark.real_data
def test_known_bars_of_a_stock(real_files: Path) -> None:
    bars = read_day((real_files / "sh600000.day").read_bytes(), "sh600000")

    assert len(bars["date"]) == 6119
    first, last = ({name: values[at].item() for name, values in bars.items()} for at in (0, -1))
    assert first == {
        "date": 19991110, "open": 29.5, "high": 29.8, "low": 27.0, "close": 27.75,
        "volume": 174_085_000, "amount": 4_859_102_208.0,
    }  # fmt: skip
    assert (last["date"], last["close"], last["volume"]) == (20250805, 13.75, 133_646_594)


@pytest.mark.real_data
def test_known_bars_of_an_index_in_shares_with_its_members(real_files: Path) -> None:
    bars = read_day((real_files / "sh000001.day").read_bytes(), "sh000001")

    assert (len(bars["date"]), bars["date"][0], bars["close"][0]) == (8455, 19901219, 99.98)
    assert (bars["date"][-1], bars["close"][-1]) == (20250805, 3617.6)
    assert bars["volume"][-1] == 499_797_780 * 100
    # 1,621 + 580 of that day's members of Shanghai.
    assert (bars["up"][-1], bars["down"][-1]) == (38_012_528 % 65536, 38_012_528 // 65536)


@pytest.mark.real_data
def test_every_bar_equals_another_clients(real_files: Path) -> None:
    reader = pytest.importorskip("pytdx.reader").TdxDailyBarReader()
    for symbol in ("sh600000", "sz000001", "sh000001"):
        path = real_files / f"{symbol}.day"
        theirs = reader.get_df(str(path))
        ours = read_day(path.read_bytes(), symbol)
        assert [f"{day:%Y%m%d}" for day in theirs.index] == ours["date"].astype(str).tolist()
        for name in ("open", "high", "low", "close"):
            np.testing.assert_allclose(ours[name], theirs[name].to_numpy(), rtol=1e-12)
        np.testing.assert_allclose(ours["amount"], theirs["amount"].to_numpy(), rtol=1e-7)


@pytest.mark.real_data
@pytest.mark.parametrize("symbol", ["sh600000", "sz000001"])
def test_bars_of_a_file_are_those_of_an_independent_set(
    real_files: Path, real_data_dir: Path, symbol: str
) -> None:
    ours = pd.DataFrame(read_day((real_files / f"{symbol}.day").read_bytes(), symbol))
    others = pd.read_csv(real_data_dir / "bars_daily_raw_hs300_2020_2025.csv.gz").query("code == @symbol")
    others["date"] = others["date"].str.replace("-", "").astype(int)
    both = ours.merge(others, on="date", suffixes=("", "_other"))

    assert len(both) > 300
    for name in ("open", "high", "low", "close"):
        np.testing.assert_allclose(both[name], both[f"{name}_other"], rtol=1e-9)
    # The other set has seven digits of both.
    for name in ("volume", "amount"):
        np.testing.assert_allclose(both[name], both[f"{name}_other"], rtol=1e-7)


@pytest.mark.real_data
def test_a_board_has_bars_and_counts(real_files: Path) -> None:
    bars = read_day((real_files / "sh881478.day").read_bytes(), "sh881478")
    assert (bars["date"][-1], bars["close"][-1], bars["volume"][-1]) == (20221110, 1082.94, 238_512_900)
    assert (bars["up"][-1], bars["down"][-1]) == (7, 7)


@pytest.mark.real_data
def test_minutes_of_a_real_file_make_the_longer_ones(real_files: Path) -> None:
    one = pd.DataFrame(read_minutes((real_files / "sh688001.lc1").read_bytes(), "sh688001", ".lc1"))
    five = pd.DataFrame(read_minutes((real_files / "sh688001.lc5").read_bytes(), "sh688001", ".lc5"))

    assert (len(one), one["date"].iloc[0], one["minute"].iloc[0]) == (2880, 20210423, 571)
    assert (one["open"].iloc[0], one["high"].iloc[0], one["volume"].iloc[0]) == (36.71, 37.02, 7000)
    one["end"] = (one["minute"] + 4) // 5 * 5
    made = one.groupby(["date", "end"]).agg(
        high=("high", "max"), close=("close", "last"), volume=("volume", "sum")
    )
    both = five.merge(
        made.reset_index(), left_on=["date", "minute"], right_on=["date", "end"], suffixes=("", "_made")
    )
    assert len(both) > 90
    assert both["close"].tolist() == both["close_made"].tolist()
    assert both["volume"].tolist() == both["volume_made"].tolist()


@pytest.mark.real_data
def test_a_real_report_period(real_files: Path, real_data_dir: Path) -> None:
    reports = read_reports((real_files / "gpcw20110930.dat").read_bytes())
    # 2,340 records, 31 of them of a company that was there before.
    assert (reports.period, reports.values.shape) == ("2011-09-30", (2309, 286))
    others = pd.read_csv(real_data_dir / "finance_tdx_2011q3.csv.gz", dtype={"code": str})
    others = others.drop_duplicates("code").sort_values("code")
    assert reports.codes.tolist() == others["code"].tolist()
    numbers = {"eps": 1, "bvps": 4, "total_assets": 40, "revenue": 74, "net_profit": 95,
               "net_profit_parent": 96, "ocf": 107, "total_shares": 238, "holders": 242}  # fmt: skip
    for name, number in numbers.items():
        np.testing.assert_allclose(reports.column(number), others[name], rtol=1e-7, err_msg=name)
    assert reports.announced == [None] * 2309  # 286 columns of that year have no day of announcement


@pytest.mark.real_data
def test_records_that_are_twice_in_a_real_file(real_files: Path) -> None:
    """Return on equity of 000415 is 3.78 in one record and 0 in the other; of 600739 23.905 and 7.53."""
    reports = read_reports((real_files / "gpcw20110930.dat").read_bytes())
    roe = dict(zip(reports.codes.tolist(), reports.column(281).tolist(), strict=True))
    assert roe["000415"] == pytest.approx(3.78)
    assert np.isnan(roe["600739"])


# -- known values in files of the layouts -------------------------------------------------------------


def test_known_figures_of_reports() -> None:
    content = report_file(20260331, {"600519": {1: 21.76, 281: 10.57, 96: 27.24e9, 74: 53.91e9, 202: 89.76,
                                                314: 260425.0}, "000001": {1: 0.0, 40: 5.8e12}})  # fmt: skip
    reports = read_reports(content)

    assert (reports.period, reports.codes.tolist()) == ("2026-03-31", ["000001", "600519"])
    assert reports.announced == [None, "2026-04-25"]
    values = [float(reports.column(number)[1]) for number in (1, 281, 96, 74, 202)]
    assert values == pytest.approx([21.76, 10.57, 27.24e9, 53.91e9, 89.76], rel=1e-7)
    # A single 0 is a value, a column of zeros is none, and so is one that the file does not have.
    assert reports.column(1)[0] == 0.0
    assert np.isnan(reports.column(2)).all()
    assert np.isnan(reports.column(585)).all()


def test_known_bar_of_a_day_package() -> None:
    bars = {
        "sh600519": (1485.0, 1489.0, 1496.5, 1463.15, 1468.8, 3_555_100, 5_239_992_522.0),
        "sh510300": (4.7, 4.712, 4.731, 4.699, 4.72, 2**32 + 5_000, 2.03e10),
        "sz000001": (10.92, 0.0, 0.0, 0.0, 0.0, 0, 0.0),
        "sz000002": (0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0),
        "bj920002": (19.8, 19.9, 20.1, 19.5, 19.7, 10_000, 197_000.0),
    }
    members = date_members("2026-03-18", bars)

    assert date_of(list(members)) == "2026-03-18"
    read = read_date(members, "2026-03-18")
    names = ("last_close", "open", "high", "low", "close", "volume", "amount")
    columns = [read[name].tolist() for name in names]
    rows = dict(zip(read["symbol"].tolist(), zip(*columns, strict=True), strict=True))
    # A suspended security stands at its previous close; one without any price is left out.
    expected = bars | {"sz000001": (10.92,) * 5 + (0, 0.0)}
    assert rows == {symbol: bar for symbol, bar in expected.items() if symbol != "sz000002"}


def test_older_day_packages_have_no_beijing() -> None:
    bars = {"sh600519": (1485.0, 1489.0, 1496.5, 1463.15, 1468.8, 3_555_100, 5_239_992_522.0)}
    for day, is_whole in (("2022-05-05", True), ("2022-05-06", False)):
        members = {name: one for name, one in date_members(day, bars).items() if not name.startswith("bj")}
        assert date_of(list(members)) == day
        if is_whole:
            assert read_date(members, day)["symbol"].tolist() == ["sh600519"]
        else:
            with pytest.raises(PayloadError, match="package of 2022-05-06: holds"):
                read_date(members, day)


def test_events_are_those_of_another_client(tmp_path: Path) -> None:
    reader = pytest.importorskip("pytdx.reader").GbbqReader()
    path = tmp_path / "gbbq"
    path.write_bytes(event_file(EVENTS))
    theirs = reader.get_df(str(path))

    ours = read_events(path.read_bytes())

    assert theirs["code"].tolist() == [code for _, code, *_ in EVENTS]
    assert ours["symbol"].tolist() == ["sh600519", "sz000001", "bj920002"]
    assert ours["date"].tolist() == theirs["datetime"].tolist()
    assert ours["category"].tolist() == theirs["category"].tolist()
    for own, name in zip(("f1", "f2", "f3", "f4"), theirs.columns[4:], strict=True):
        np.testing.assert_array_equal(ours[own], theirs[name].to_numpy(dtype=np.float32))


def test_events_are_older_than_the_exchanges() -> None:
    """sz000001 is first in the real records of 1990-03-01: a file with that is a fine one."""
    assert read_events(event_file([(0, "000001", 19900301, 5, 0.0, 0.0, 1.0, 1.0)]))["date"].tolist() == [
        19_900_301
    ]
    with pytest.raises(PayloadError, match="19790101 is no day"):
        read_events(event_file([(0, "000001", 19790101, 1, 1.0, 0.0, 0.0, 0.0)]))


def test_the_key_expands_to_the_tables_of_another_client() -> None:
    """One block through the tables that a public client ships must be one block through the key."""
    tables = bytes.fromhex(pytest.importorskip("pytdx.reader").GbbqReader.hexdump_keys)
    words = struct.unpack(f"<{len(tables) // 4}I", tables)
    subkeys, boxes = words[:18], [words[18 + 256 * at : 274 + 256 * at] for at in range(4)]
    left, right = 0x01234567, 0x89ABCDEF
    for key in subkeys[:1:-1]:
        left ^= key
        mixed = (boxes[0][left >> 24] + boxes[1][left >> 16 & 255]) & 0xFFFFFFFF
        mixed = ((mixed ^ boxes[2][left >> 8 & 255]) + boxes[3][left & 255]) & 0xFFFFFFFF
        left, right = right ^ mixed, left
    clear = struct.pack("<2I", right ^ subkeys[0], left ^ subkeys[1])
    record = struct.pack("<B7sIBffff", 1, b"600519", 20260630, 1, 1.0, 0.0, 0.0, 0.0)
    enciphered = bytearray(event_file([(1, "600519", 20260630, 1, 1.0, 0.0, 0.0, 0.0)]))
    assert bytes(enciphered[4:28]) != record[:24]
    from resources.upstreams.tdx_packages import events

    block = struct.pack("<2I", 0x01234567, 0x89ABCDEF)
    assert events._deciphered(block + bytes(21), 1)[:8] == clear


def test_the_list_of_report_files() -> None:
    text = (
        "gpcw20260331.zip,0f343b0931126a20f133d67c2b018a3b,1024\r\ngpcw19881231.zip," + "a" * 32 + ",164\r\n"
    )
    listed = read_report_list(text.encode())
    assert [(one.period, one.size) for one in listed] == [("1988-12-31", 164), ("2026-03-31", 1024)]
    with pytest.raises(PayloadError, match="names no file"):
        read_report_list(b"<html><script>check</script></html>")


# -- scales, units, identities -------------------------------------------------------------------------


def test_a_volume_above_32_bits_is_written_in_hundreds() -> None:
    shares = 5_000_000_042
    bars = day_file([(20240102, 310, 310, 310, 310, shares * 3.1, shares // 100, 0xC3640000 | shares % 100)])
    assert read_day(bars, "sh601988")["volume"].tolist() == [shares]
    # Other values of the reserved word say nothing.
    plain = day_file([(20240102, 310, 310, 310, 310, 3100.0, 1000, 65536)])
    assert read_day(plain, "sh601988")["volume"].tolist() == [1000]


@pytest.mark.parametrize(
    ("symbol", "written", "price"),
    [
        ("sh600000", 1013, 10.13),
        ("sh510300", 4712, 4.712),
        ("sz159915", 2345, 2.345),
        ("sz161725", 987, 0.987),
        ("sh508000", 10123, 10.123),
        ("bj920002", 1970, 19.7),
        ("sh113050", 11850, 118.5),
        ("sz127045", 118500, 118.5),
    ],
)
def test_the_scale_follows_from_the_security(symbol: str, written: int, price: float) -> None:
    assert read_day(flat_bars(written, price), symbol)["close"].tolist() == [price] * 4


def test_lots_of_a_bond_are_ten_bonds() -> None:
    bars = read_day(flat_bars(11850, 1185.0), "sh113050")
    assert (bars["close"][0], bars["volume"][0]) == (118.5, 10_000)


@pytest.mark.parametrize(
    ("symbol", "content", "why"),
    [
        ("sh510300", flat_bars(471, 4.71), "another scale"),
        ("sh600000", flat_bars(1013, 1013.0), "another unit"),
        ("sh600519", flat_bars(361760, 1313.0), "bars of another security"),
        ("sh000001", flat_bars(1013, 1e6, range(20240102, 20240108)), "no mean price of an index's members"),
        ("sh688001", flat_bars(3671, 36.71, [20190719, 20190722]), "before the first session of star"),
        ("sh113050", flat_bars(1013, 10.13), "decides the scale"),
        ("sh010107", flat_bars(10150, 101.5), "cannot be decided .bond"),
        ("sz395001", flat_bars(10150, 101.5), "cannot be decided .category"),
        ("sh600000", flat_bars(1013, 10.13)[:-1], "cut off"),
        ("sh600000", flat_bars(1013, 10.13, [20240103, 20240102]), "20240102 follows 20240103"),
        ("sh600000", flat_bars(1013, 10.13, [20240131, 20240132]), "20240132 is no day"),
        ("sh600000", day_file([(20240102, 1, 1, 1, 1, float("nan"), 1, 0)]), "no finite number"),
        ("sh600000", day_file([(20240102, 1, 1, 1, 1, -5.0, 1, 0)]), "below zero"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_what_it_says_is_refused(symbol: str, content: bytes, why: str) -> None:
    with pytest.raises(PayloadError, match=f"{symbol}.*{why}"):
        read_day(content, symbol)


@pytest.mark.real_data
def test_the_shanghai_index_under_a_stocks_name_is_refused(real_files: Path) -> None:
    content = (real_files / "sh000001.day").read_bytes()
    for symbol in ("sh688001", "sh600000", "sh510300"):
        with pytest.raises(PayloadError, match=symbol):
            read_day(content, symbol)


def test_suspended_days_are_bars_without_volume() -> None:
    bars = read_day(day_file([(20240102, 1013, 1013, 1013, 1013, 10130.0, 1000, 0),
                              (20240103, 1013, 1013, 1013, 1013, 0.0, 0, 0)]), "sh600000")  # fmt: skip
    assert bars["volume"].tolist() == [1000, 0]


def test_names_with_backslashes_name_their_security() -> None:
    assert symbol_of("sh\\lday\\sh600000.day") == symbol_of("sh/lday/SH600000.day") == "sh600000"
    with pytest.raises(PayloadError, match="not named like"):
        symbol_of("sh/lday/600000.day")


@pytest.mark.parametrize(
    ("read", "content", "why"),
    [
        (read_events, event_file(EVENTS)[:-1], "cut off"),
        (read_events, event_file(EVENTS)[:4] + bytes(29 * 3), "enciphered otherwise"),
        (read_events, b"", "hold no count"),
        (read_reports, report_file(20260331, {"600519": {1: 1.0}})[:-4], "of 1 companies"),
        (read_reports, report_file(20260330, {"600519": {1: 1.0}}), "end of no quarter"),
        (read_reports, report_file(20260331, {"<html>": {1: 1.0}}), "is no code"),
        (read_reports, b"<html>the site checks your browser</html>", "is no day"),
    ],
)
def test_other_files_that_are_damaged(read: object, content: bytes, why: str) -> None:
    assert callable(read)
    with pytest.raises(PayloadError, match=why):
        read(content)


def test_a_day_package_of_another_date_is_refused() -> None:
    members = date_members("2026-03-18", {})
    with pytest.raises(PayloadError, match="2026-03-19: holds bj260318"):
        read_date(members, "2026-03-19")
    del members["bj260318.md1"]
    assert date_of(list(members)) is None
