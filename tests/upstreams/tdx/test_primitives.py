import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import PayloadError
from resources.upstreams.tdx import primitives
from simulated_market.tdx import encoding


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        ("00", 0),
        ("40", 0),
        ("41", -1),
        ("b212", 1202),
        ("a208", 546),
        ("ce03", -206),
        ("949101", 9300),
        ("b78fa801", 1377271),
    ],
)
def test_documented_varints_are_read(wire: str, value: int) -> None:
    raw = bytes.fromhex(wire)

    assert primitives.read_varint(raw, 0) == (value, len(raw))


def test_a_byte_without_the_flag_ends_a_varint_inside_a_stream() -> None:
    assert primitives.read_varint(bytes.fromhex("459f"), 0) == (-5, 1)


@given(st.lists(st.integers(-(2**61), 2**61), max_size=20))
def test_the_reader_returns_what_the_simulated_server_writes(values: list[int]) -> None:
    raw = encoding.varints(*values)

    assert primitives.read_varints(raw, 0, len(values)) == (values, len(raw))


@given(st.binary(max_size=40), st.integers(1, 6))
def test_random_bytes_are_numbers_or_a_payload_error(raw: bytes, count: int) -> None:
    read = primitives.accepted("noise")(primitives.read_varints)
    try:
        values, pos = read(raw, 0, count)
    except PayloadError:
        return

    assert len(values) == count
    assert pos <= len(raw)


def test_a_number_of_endless_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="bits"):
        primitives.read_varint(b"\xff" * 64, 0)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (14042282, "14:04:13"),
        (13252999, "13:25:17"),
        (14999512, "14:59:58"),
        (15330029, "15:33:00"),
        (0, None),
        (-5, None),
        (25_000_000, None),
    ],
)
def test_server_times(number: int, text: str | None) -> None:
    assert primitives.server_time_text(number) == text


@given(st.datetimes())
def test_server_times_survive_the_simulated_server_to_the_second(moment) -> None:
    read = primitives.server_time_text(encoding.server_time(moment))

    # Midnight sharp is the number 0, which means 'no time'.
    assert read == moment.strftime("%H:%M:%S") or encoding.server_time(moment) == 0


def test_a_float_is_ieee_and_not_the_old_client_routine() -> None:
    # The routine copied through public clients reads 9.19 as 312.0025 and 0 as 5.9e-39.
    assert round(primitives.read_float(struct.pack("<f", 9.19), 0), 2) == 9.19
    assert primitives.read_float(bytes(4), 0) == 0.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_float_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        primitives.read_float(struct.pack("<f", value), 0)


def test_nothing_and_noise_are_no_figures() -> None:
    assert primitives.read_float(struct.pack("<f", 5.877471754111438e-39), 0) == 0.0
    with pytest.raises(ValueError, match="no finite number"):
        primitives.read_float(struct.pack("<f", 1e30), 0)
    assert [primitives.known_date_text(day) for day in (0, 19000101, 20260306)] == [None, None, "2026-03-06"]


@given(st.floats(-1e6, 1e6).map(lambda value: round(value, 2)))
def test_two_decimals_survive_float32_where_it_has_room_for_them(value: float) -> None:
    wire = struct.unpack("<f", struct.pack("<f", value))[0]

    assert abs(primitives.shortest(wire) - value) <= max(1e-9, abs(value) * 2**-23)


def test_the_meant_number_is_found_behind_a_float32() -> None:
    assert primitives.shortest(434.6000061035156) == 434.6
    assert primitives.shortest(3006194944.0) == 3006194944.0


@pytest.mark.parametrize("day", [20260230, 20261301, 0, 99999999])
def test_a_day_that_does_not_exist_is_refused(day: int) -> None:
    with pytest.raises(ValueError):
        primitives.date_text(day)


def test_packed_days_count_years_from_2004() -> None:
    assert primitives.packed_date_text(((2026 - 2004) << 11) + 306) == "2026-03-06"


def test_a_name_that_ends_inside_a_character_loses_that_character_only() -> None:
    assert primitives.gbk_text("ST兴源A份".encode("gb18030")[:8]) == "ST兴源A"
    assert primitives.gbk_text(b"\xb5\xcb\0garbage") == "邓"
