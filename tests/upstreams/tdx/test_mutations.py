"""A damaged body is a PayloadError or a complete result, never a part of one and never another error."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.tdx import (
    bars,
    catalogue,
    company,
    corporate,
    files,
    minutes,
    quotes,
    renames,
    transactions,
)
from resources.upstreams.tdx.instruments import instrument
from tests.upstreams.tdx.recorded import payload, sample

PINGAN, PUFA, MOUTAI = instrument("sz000001"), instrument("sh600000"), instrument("sh600519")
DAY = bars.PERIODS["day"]

#: name -> (recorded body, its parser, the place of the row count)
CASES: dict[str, tuple[bytes, Callable[[bytes], Any], int]] = {
    "quotes": (
        sample("quote_frame_a"),
        lambda body: quotes.parse_quotes(body, [PINGAN, instrument("sh600008")]),
        2,
    ),
    "snapshots": (
        sample("snap054c_b"),
        lambda body: quotes.parse_quotes(body, [instrument("sz002423")], levels=1),
        2,
    ),
    "bars": (sample("kline_body_a"), lambda body: bars.parse_bars(body, PINGAN, DAY), 0),
    "index bars": (
        sample("eltdx_kline_INDEX_DAY_PAYLOAD_HEX"),
        lambda body: bars.parse_bars(body, instrument("sh000001"), DAY),
        0,
    ),
    "absolute bars": (
        payload("tdx_kline_600000_day.json", "body_hex"),
        lambda body: bars.parse_bars(body, PUFA, DAY, absolute=True),
        0,
    ),
    "history minutes": (
        sample("eltdx_minute_PAYLOAD_HEX"),
        lambda body: minutes.parse_history(body, PINGAN, "2026-03-06"),
        0,
    ),
    "minutes": (
        sample("eltdx_minute_LIVE_PAYLOAD_HEX_SZ"),
        lambda body: minutes.parse_today(body, PINGAN, "2026-03-06"),
        0,
    ),
    "transactions": (
        sample("eltdx_trade_LIVE_PAYLOAD_HEX"),
        lambda body: transactions.parse_transactions(
            body, transactions.TODAY, PINGAN, "2026-03-06", limit=1800
        ),
        0,
    ),
    "history transactions": (
        sample("eltdx_trade_HIST_PAYLOAD_HEX"),
        lambda body: transactions.parse_transactions(
            body, transactions.HISTORY, PINGAN, "2026-03-05", limit=2000
        ),
        0,
    ),
    "auction": (sample("auction_body"), lambda body: transactions.parse_auction(body, PINGAN), 0),
    "xdxr": (payload("tdx_gbbq_sz000001.hex"), lambda body: corporate.parse_xdxr(body, PINGAN), 9),
    "list": (
        payload("tdx_securities_raw.json", "list_sz_page0")[: 2 + 29 * 1000],
        lambda body: catalogue.parse_list(body, 0),
        0,
    ),
}
#: Values that begin the body of 'nothing to say'; a prefix of a body is not one of them.
NOTHING = {b"\0\0", b"\0" * 4, b"\0" * 6}


@pytest.mark.parametrize("name", CASES)
def test_every_proper_prefix_is_refused(name: str) -> None:
    body, parse, _ = CASES[name]
    step = max(1, len(body) // 400)

    for size in (*range(0, min(len(body), 40)), *range(40, len(body), step), len(body) - 1):
        if body[:size] not in NOTHING:
            with pytest.raises(PayloadError):
                parse(body[:size])


@pytest.mark.parametrize("name", CASES)
def test_bytes_behind_the_end_are_refused(name: str) -> None:
    body, parse, _ = CASES[name]

    with pytest.raises(PayloadError):
        parse(body + b"\0")


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_changed_bytes_give_a_whole_result_or_a_payload_error(name: str, data: st.DataObject) -> None:
    body, parse, count_at = CASES[name]
    changed = bytearray(body)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))

    try:
        columns = parse(bytes(changed))
    except PayloadError:
        return

    promised = int.from_bytes(changed[count_at : count_at + 2], "little")
    if "quotes" in name or name == "snapshots":
        # A left-out security is a row too, marked as unknown.
        assert len(columns["code"]) >= promised
    else:
        assert {len(values) for values in columns.values()} == {promised}


@given(st.binary(max_size=600))
def test_noise_is_a_whole_result_or_a_payload_error(noise: bytes) -> None:
    parsers: list[Callable[[bytes], Any]] = [parse for _, parse, _ in CASES.values()]
    parsers += [
        lambda body: corporate.parse_finance(body, PINGAN),
        company.parse_sections,
        lambda body: company.parse_text(body, PINGAN, 30_000),
        files.parse_meta,
        files.parse_content,
        files.parse_blocks,
        files.parse_industries,
        files.parse_block_indices,
        renames.unpacked,
        renames.parse_renames,
        catalogue.parse_count,
        lambda body: minutes.parse_averages(body, PINGAN, "2026-03-06"),
    ]

    for parse in parsers:
        try:
            parse(noise)
        except PayloadError:
            continue


def test_the_wrong_security_under_the_right_request_is_refused() -> None:
    with pytest.raises(PayloadError, match="instead of"):
        corporate.parse_finance(sample("finance_frame"), PUFA)
    with pytest.raises(PayloadError, match="instead of"):
        corporate.parse_xdxr(payload("tdx_gbbq_sz000001.hex"), PUFA)
    with pytest.raises(PayloadError, match="instead of"):
        quotes.parse_quotes(sample("quote_frame_a"), [PINGAN, PUFA])
    with pytest.raises(PayloadError, match="minutes"):
        minutes.parse_today(sample("eltdx_minute_LIVE_PAYLOAD_HEX_SZ"), PUFA, "2026-03-06")


def test_an_index_under_the_code_of_a_stock_does_not_fit_its_layout() -> None:
    with pytest.raises(PayloadError, match="sz000001"):
        bars.parse_bars(sample("eltdx_kline_INDEX_DAY_PAYLOAD_HEX"), PINGAN, DAY)


def test_more_rows_than_were_asked_for_are_refused() -> None:
    with pytest.raises(PayloadError, match="asked for"):
        bars.parse_bars(sample("kline_body_a"), PINGAN, DAY, limit=9)


def packed(content: bytes, member: str = renames.MEMBER, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as package:
        package.writestr(zipfile.ZipInfo(member), content, compress_type=how)
    return buffer.getvalue()


RECORD = bytes.fromhex("00 303030303031 00 c9eeb7a2d5b9410000 511b3201").ljust(64, b"\0")


@given(data=st.data())
def test_a_damaged_package_is_whole_or_a_payload_error(data: st.DataObject) -> None:
    whole = packed(RECORD * 40)
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        changed[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))

    try:
        content = renames.unpacked(bytes(changed))
    except PayloadError:
        return

    assert content == RECORD * 40


@pytest.mark.parametrize(
    ("package", "reason"),
    [
        (b"", "no zhb.zip"),
        (packed(RECORD)[:-30], "zip"),
        (packed(RECORD, member="other.dat"), "profile.dat"),
        (packed(RECORD, how=zipfile.ZIP_LZMA), "packed in way 14"),
        (packed(b"\0" * ((16 << 20) + 1)), "more than"),
    ],
)
def test_a_package_that_holds_no_former_names_is_refused(package: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        renames.unpacked(package)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (RECORD[:-1], "whole records"),
        (RECORD[:8] + bytes(9) + RECORD[17:], "without a name"),
        (RECORD[:17] + (20061339).to_bytes(4, "little") + RECORD[21:], "month"),
        (RECORD[:1] + b"00000\xff" + RECORD[7:], "no security code"),
    ],
)
def test_a_record_that_cannot_be_one_is_refused(record: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        renames.parse_renames(RECORD + record)


def test_a_security_of_a_market_that_is_not_served_is_left_out() -> None:
    assert renames.parse_renames(RECORD + b"\x2c" + RECORD[1:])["symbol"] == ["sz000001"]
