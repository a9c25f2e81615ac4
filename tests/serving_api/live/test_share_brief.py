"""The picture to post: legible without a Chinese font, nothing over anything, dashes, and no markup from
outside."""

import shutil
import struct
import subprocess
import zlib
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from serving_api.market.share_brief.canvas import Canvas, fitted, width
from serving_api.market.share_brief.picture import (
    DASH,
    FALL,
    FLAT,
    GREY,
    RISE,
    Facts,
    Index,
    colour,
    draw,
    listed,
    percent,
    svg_of,
)
from tests.serving_api.live.admin_reads.conftest import FetchContext

LONG = "自动化设备与工业机器人及零部件制造业龙头"
FULL = Facts(
    "2026-08-21 14:32",
    [Index("上证综合指数全收益人民币", 13_950.24, -10.84), Index("深证成指", 12_345.67, 1.23),
     Index("创业板指", 2_890.1, 0.0)],
    100.0, "亢奋", 5_432, 5_321, 1_234, 1_234, 1_111, 3.456e12, -1.234e11, 100.0, (LONG, 12.34),
    (LONG, -12.34), True,
)  # fmt: skip
NOTHING = Facts("2026-08-21", [])
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.parametrize("facts", [FULL, NOTHING], ids=["longest", "nothing"])
def test_no_line_overlaps_another_or_leaves_the_picture(facts: Facts) -> None:
    canvas = draw(facts)
    for box in canvas.boxes:
        assert box.left >= 0 and box.right <= 1200 and box.top >= 0 and box.bottom <= 630, box  # noqa: PT018
    for one, other in combinations(canvas.boxes, 2):
        apart = (
            one.right <= other.left
            or other.right <= one.left
            or one.bottom <= other.top
            or other.bottom <= one.top
        )
        assert apart, (one, other)


def test_what_is_missing_is_a_dash() -> None:
    assert {value for _, value in listed(NOTHING)} == {None}
    drawn = [box.text for box in draw(NOTHING).boxes]
    assert drawn.count(DASH) == 11  # three prices, mood, two counts of limits, five cards
    assert not any("None" in text or "nan" in text for text in drawn)
    svg = svg_of(NOTHING)
    assert not any(fill in svg for fill in (FALL, FLAT)), "what is missing is grey"
    assert svg.count(RISE) == 1, "the bar at the top alone is red"


def test_what_rounds_to_nothing_has_no_sign_and_no_colour() -> None:
    assert [percent(one) for one in (0.0, -0.001, 0.004, 0.005001, -1.0)] == [
        *["0.00%"] * 3, "+0.01%", "-1.00%",
    ]  # fmt: skip
    assert [colour(one) for one in (None, -0.001, 0.01, -0.01)] == [GREY, GREY, RISE, FALL]


@pytest.mark.parametrize(
    ("up", "flat", "down"), [(1, 0, 0), (0, 0, 1), (5000, 1, 1), (1, 1, 5000), (0, 9, 0), (3, 0, 4)]
)
def test_the_bar_of_the_breadth_stays_within_its_room(up: int, flat: int, down: int) -> None:
    svg = svg_of(Facts("2026-08-21", [], up=up, flat=flat, down=down))
    bars = [one for one in ElementTree.fromstring(svg) if one.get("y") == "354"]
    lefts = [float(one.get("x", "")) for one in bars]
    rights = [float(one.get("x", "")) + float(one.get("width", "")) for one in bars]
    assert (min(lefts), max(rights)) == (360, pytest.approx(860))


def test_text_from_outside_is_no_markup() -> None:
    evil = Facts("2026<b>", [Index('<script>"&\x00\u202e', 1.0, 1.0)], best=("]]>&amp;<a href='x'>", 1.0))
    svg = svg_of(evil)
    root = ElementTree.fromstring(svg)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names <= {"svg", "title", "desc", "defs", "path", "rect", "g", "use", "text"}
    assert "<script" not in svg
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on") or "href" in name} - {"href"}
    assert all(element.get("href", "#").startswith("#") for element in root.iter())


def test_a_line_that_is_too_long_is_set_smaller_and_then_cut() -> None:
    line, size = fitted(LONG, 30, 200)
    assert size == 18.0
    assert line.endswith("…")
    assert width(line, size) <= 200
    assert fitted("短", 30, 200) == ("短", 30)
    assert fitted("字" * 4, 30, 100) == ("字" * 4, 25.0)


def test_a_character_without_an_outline_is_text_in_a_font_of_the_reader() -> None:
    canvas = Canvas(100, 100)
    canvas.text(0, 50, "龘股", 20, "#000", 100)
    svg = canvas.svg("t", "d")
    assert svg.count("<text") == 1
    assert "Microsoft YaHei" in svg
    assert svg.count("<use") == 1


def brief(bench: FetchContext) -> dict[str, Any]:
    answer = bench.api.get("/market/share-brief")
    assert answer.status_code == 200, answer.text
    reported: dict[str, Any] = answer.json()
    return reported


def test_the_picture_says_what_the_reads_say(bench: FetchContext) -> None:
    reported = brief(bench)
    facts = {row["label"]: row["value"] for row in reported["brief"]["facts"]}
    counts = bench.api.get("/market/distribution").json()
    assert facts["上涨家数"] == f"{counts['up']:,}"
    assert facts["涨停"] == f"{counts['limit_up']:,}"
    main = bench.api.get("/market/sentiment").json()["indices"][0]
    assert facts["上证指数"] == f"{main['price']:,.2f}（{main['change_percent']:+.2f}%）"
    assert facts["领涨行业"].startswith(bench.api.get("/market/industry-rank").json()["top"][0]["name"])
    assert (reported["width"], reported["height"], reported["brief"]["note"]) == (1200, 630, None)
    root = ElementTree.fromstring(reported["svg"])
    assert root.get("viewBox") == "0 0 1200 630"
    assert facts["上涨家数"] in root.findtext("{http://www.w3.org/2000/svg}desc", "")


def test_without_facts_there_is_a_note_and_no_picture(bench: FetchContext) -> None:
    bench.silence("eastmoney", "tencent", "tdx", "sina")
    reported = brief(bench)
    assert reported["svg"] is None
    assert reported["brief"]["note"]
    assert {row["value"] for row in reported["brief"]["facts"]} == {None}


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to render the picture with")
@pytest.mark.parametrize("facts", [FULL, NOTHING], ids=["longest", "nothing"])
def test_a_browser_without_chinese_fonts_renders_it(tmp_path: Path, facts: Facts) -> None:
    (tmp_path / "brief.svg").write_text(svg_of(facts), encoding="utf-8")
    subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}", "--hide-scrollbars", "--window-size=1200,630",
            f"--screenshot={tmp_path / 'brief.png'}", f"file://{tmp_path / 'brief.svg'}",
        ],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    wide, high, rows = pixels((tmp_path / "brief.png").read_bytes())
    assert (wide, high) == (1200, 630)
    assert rows[3][600] == (200, 50, 43), "the bar at the top"
    dark = sum(sum(pixel) < 200 for row in rows[40:100] for pixel in row[60:600])
    assert dark > 1_500, "the title is drawn"
    for box in draw(facts).boxes:
        paper = rows[int(box.top) + 1][max(0, int(box.left) - 8)]
        inked = sum(
            pixel != paper
            for row in rows[int(box.top) : int(box.bottom)]
            for pixel in row[int(box.left) : int(box.right) + 1]
        )
        assert inked > 10, f"{box.text} is drawn"


def pixels(png: bytes) -> tuple[int, int, list[list[tuple[int, int, int]]]]:
    """(width, height, rows of RGB) of a PNG with 8 bits a channel."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, wide, high, channels = 8, b"", 0, 0, 3
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        data = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            wide, high, depth, colour = struct.unpack_from(">IIBB", data)
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += data
        at += size + 12
    raw, stride = zlib.decompress(packed), wide * channels
    rows, before = [], bytearray(stride)
    for number in range(high):
        start = number * (stride + 1)
        line = unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), before, channels)
        rows.append([(line[x], line[x + 1], line[x + 2]) for x in range(0, stride, channels)])
        before = line
    return wide, high, rows


def unfiltered(kind: int, line: bytearray, above: bytearray, step: int) -> bytearray:
    for x in range(len(line)):
        left = line[x - step] if x >= step else 0
        corner = above[x - step] if x >= step else 0
        line[x] = (line[x] + predicted(kind, left, above[x], corner)) & 255
    return line


def predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
