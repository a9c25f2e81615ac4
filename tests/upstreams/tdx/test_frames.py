"""Requests byte for byte as recorded; response frames."""

import struct
import zlib

import pytest

from core.errors import InputError, PayloadError
from resources.upstreams.tdx import (
    bars,
    catalogue,
    company,
    corporate,
    files,
    frames,
    minutes,
    quotes,
    transactions,
)
from resources.upstreams.tdx.instruments import instrument

PINGAN = instrument("sz000001")
DAY = bars.PERIODS["day"]


#: call -> recorded request; blanks separate header and payload.
RECORDED = (
    (frames.HELLO_1, "0c 02189300 01 0300 0300 0d00 01"),
    (
        frames.HELLO_2,
        "0c 03189900 01 2000 2000 db0f d5d0c9ccd6a4a8af0000008fc22540130000d500c9ccbdf0d7ea00000002",
    ),
    (frames.HEARTBEAT, "0c 76002800 02 0200 0200 0400"),
    (catalogue.count_call(0, 20170613), "0c 0c186c00 01 0800 0800 4e04 000075c73301"),
    (catalogue.list_call(0, 0), "0c 01186401 01 0600 0600 5004 00000000"),
    (
        quotes.quotes_call([PINGAN, instrument("sh600008")]),
        "0c 02000000 01 1a00 1a00 3e05 0500000000000000 0200 00303030303031 01363030303038",
    ),
    (
        bars.bars_call(PINGAN, DAY, 0, 10),
        "0c 01086401 01 1c00 1c00 2d05 0000303030303031 0900010000000a00 00000000000000000000",
    ),
    (
        transactions.transactions_call(transactions.TODAY, PINGAN, 0, 10),
        "0c 01000000 01 0e00 0e00 c50f 0000303030303031 0000 0a00",
    ),
    (
        transactions.transactions_call(transactions.HISTORY, PINGAN, 0, 100, 20241028),
        "0c 02000000 01 1200 1200 b50f 84da3401 0000303030303031 0000 6400",
    ),
    (
        transactions.auction_call(PINGAN),
        "0c 00000000 01 1e00 1e00 6a05 0000303030303031 00000000 03000000 00000000 00000000 f4010000",
    ),
    (minutes.history_call(PINGAN, 20260306), "0c 01000000 01 0d00 0d00 b40f d2253501 00303030303031"),
    (minutes.today_call(PINGAN), "0c 01000000 01 0e00 0e00 1d05 0000303030303031 00000000"),
    (corporate.xdxr_call(PINGAN), "0c 01000000 01 0b00 0b00 0f00 0100 00303030303031"),
    (corporate.finance_call(PINGAN), "0c 01000000 01 0b00 0b00 1000 0100 00303030303031"),
    (company.sections_call(PINGAN), "0c 01000000 01 0e00 0e00 cf02 0000303030303031 00000000"),
    (
        files.meta_call("block_zs.dat"),
        "0c 01000000 01 2a00 2a00 c502 626c6f636b5f7a732e646174" + "00" * 28,
    ),
)


@pytest.mark.parametrize(("call", "wire"), RECORDED, ids=[call.name for call, _ in RECORDED])
def test_requests_equal_the_recorded_ones(call: frames.Call, wire: str) -> None:
    expected = bytes.fromhex(wire)
    # The sequence number is the client's own choice; the heartbeat was recorded with packet type 2.
    seq = int.from_bytes(expected[1:5], "little")
    expected = expected[:5] + b"\x01" + expected[6:]

    assert frames.request_frame(seq, call.method, call.payload) == expected


def test_file_and_text_requests_have_their_fixed_sizes() -> None:
    content = files.content_call("block_gn.dat", 30_000)
    section = company.Section("公司概况", "600000.txt", 1000, 70_000)
    text = company.text_call(instrument("sh600000"), section, 60_000)

    assert len(content.payload) == 0x6E - 2
    assert content.payload[:8] == struct.pack("<II", 30_000, 30_000)
    assert len(text.payload) == 0x68 - 2
    assert struct.unpack("<III", text.payload[-12:]) == (61_000, 10_000, 0)


def test_canonical_requests_name_what_was_asked() -> None:
    assert (
        bars.bars_call(PINGAN, DAY, 0, 800).request
        == "tdx://bars?symbol=sz000001&category=9&start=0&count=800"
    )
    assert catalogue.count_call(1, 20260306).request == catalogue.count_call(1, 20260307).request


def test_more_than_eighty_quotes_are_not_one_call() -> None:
    with pytest.raises(InputError, match="80"):
        quotes.quotes_call([PINGAN] * 81)


def header(zip_len: int, raw_len: int) -> frames.Header:
    return frames.Header(1, 0x052D, zip_len, raw_len)


def test_bodies_are_inflated_when_their_lengths_differ() -> None:
    body = b"bars" * 100
    packed = zlib.compress(body)

    assert frames.inflate(header(len(packed), len(body)), packed) == body
    assert frames.inflate(header(len(packed), len(packed)), packed) == packed


@pytest.mark.parametrize("promised", [399, 401])
def test_a_body_of_another_size_than_promised_is_refused(promised: int) -> None:
    packed = zlib.compress(b"bars" * 100)

    with pytest.raises(PayloadError, match="promised"):
        frames.inflate(header(len(packed), promised), packed)


@pytest.mark.parametrize(
    "spoil", [lambda raw: raw[:-4], lambda raw: b"\0" + raw[1:], lambda raw: raw + b"\0"]
)
def test_a_damaged_compressed_body_is_refused(spoil) -> None:
    body = bytes(range(256)) * 2
    wire = spoil(zlib.compress(body))

    with pytest.raises(PayloadError):
        frames.inflate(header(len(wire), len(body)), wire)


def test_a_header_without_the_magic_is_none() -> None:
    assert frames.response_header(b"HTTP/1.1 400 Bad") is None
