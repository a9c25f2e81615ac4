"""Which name a security had when: spans from former names and names that were seen."""

import numpy as np
import pandas as pd
import pytest

from core.market.names import is_st, plain_name
from platform_assets.compute.name_spans import Seen, Span, named, spans_of

DATES = [f"2026-03-{day:02d}" for day in (2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 16)]
FIRST = DATES[0]


def seen(day: str, name: str, src: str = "tencent") -> Seen:
    return Seen(day, name, src)


def shown(spans: list[Span]) -> list[tuple[str, str | None, str]]:
    return [(span.since, span.until, span.name) for span in spans]


def again(spans: list[Span]) -> list[Seen]:
    """What is stored, as it is read for the next load."""
    return [Seen(span.since, span.name, span.src, span.until) for span in spans]


def test_a_name_without_a_change_has_always_been() -> None:
    assert shown(spans_of([seen("2026-03-13", "海星股份")], (), DATES)) == [(FIRST, None, "海星股份")]


def test_without_a_list_of_former_names_nothing_is_said_of_the_days_before() -> None:
    spans = spans_of([seen("2026-03-13", "ST海星")], None, DATES)

    assert shown(spans) == [("2026-03-13", None, "ST海星")]
    assert spans[0].is_st


def test_former_names_end_on_the_trade_date_before_the_next_one_begins() -> None:
    former = [("2026-03-09", "海星股份"), ("2026-03-12", "*ST海星")]

    spans = spans_of([seen("2026-03-13", "ST海星")], former, DATES)

    assert shown(spans) == [
        (FIRST, "2026-03-06", "海星股份"),
        ("2026-03-09", "2026-03-11", "*ST海星"),
        ("2026-03-12", None, "ST海星"),
    ]
    assert [span.is_st for span in spans] == [False, True, True]


def test_a_change_that_the_list_does_not_tell_yet_begins_when_it_is_seen() -> None:
    before = spans_of([seen("2026-03-12", "海星股份")], (), DATES)

    today = spans_of([*again(before), seen("2026-03-13", "ST海星")], (), DATES)
    tomorrow = spans_of([*again(today), seen("2026-03-16", "ST海星")], [("2026-03-13", "海星股份")], DATES)

    assert shown(today) == [(FIRST, "2026-03-12", "海星股份"), ("2026-03-13", None, "ST海星")]
    assert tomorrow == today


def test_an_unseen_change_begins_on_the_day_of_the_list() -> None:
    before = spans_of([seen("2026-03-04", "海星股份")], (), DATES)

    spans = spans_of([*again(before), seen("2026-03-16", "ST海星")], [("2026-03-10", "海星股份")], DATES)

    assert shown(spans) == [(FIRST, "2026-03-09", "海星股份"), ("2026-03-10", None, "ST海星")]


def test_a_change_on_the_day_of_the_first_load_is_set_right_by_the_next_list() -> None:
    """The list is a day old: on that one day the new name seems to have always been."""
    first = spans_of([seen("2026-03-13", "ST海星")], (), DATES)

    spans = spans_of([*again(first), seen("2026-03-16", "ST海星")], [("2026-03-13", "海星股份")], DATES)

    assert shown(spans) == [(FIRST, "2026-03-12", "海星股份"), ("2026-03-13", None, "ST海星")]


def test_names_cut_short_are_the_same_name_and_the_fullest_is_kept() -> None:
    spans = spans_of([seen("2026-03-03", "ST海南机", "tdx"), seen("2026-03-04", "ST海南机场")], (), DATES)
    later = spans_of([*again(spans), seen("2026-03-11", "海南机场")], [("2026-03-11", "ST海南机")], DATES)

    assert shown(spans) == [(FIRST, None, "ST海南机场")]
    assert shown(later) == [(FIRST, "2026-03-10", "ST海南机场"), ("2026-03-11", None, "海南机场")]
    assert later[0].src == "tencent"


@pytest.mark.parametrize(("src", "count"), [("tdx", 1), ("tencent", 2)])
def test_a_suffix_is_no_cut_unless_the_source_cuts(src: str, count: int) -> None:
    spans = spans_of([seen("2026-03-03", "海星科技-U"), seen("2026-03-04", "海星科技", src)], (), DATES)

    assert len(spans) == count


def test_a_name_that_ended_unseen_has_no_successor() -> None:
    stored = [Seen("2026-03-02", "海星股份", "tencent")]

    spans = spans_of(stored, [("2026-03-10", "海星股份")], DATES)

    assert shown(spans) == [(FIRST, "2026-03-09", "海星股份")]
    assert spans_of(again(spans), [("2026-03-10", "海星股份")], DATES) == spans
    assert spans_of(again(spans), None, DATES) == spans


def test_a_second_look_changes_nothing() -> None:
    former = [("2026-03-04", "海星"), ("2026-03-09", "ST海星"), ("2026-03-11", "海星股份")]
    spans = spans_of([seen("2026-03-13", "海星控股")], former, DATES)

    for reported in (former, None):
        assert spans_of([*again(spans), seen("2026-03-13", "海星控股")], reported, DATES) == spans


def test_a_rename_on_a_day_without_trade_ends_the_old_name_before_it() -> None:
    spans = spans_of([seen("2026-03-13", "乙")], [("2026-03-08", "甲")], DATES)

    assert shown(spans) == [(FIRST, "2026-03-06", "甲"), ("2026-03-08", None, "乙")]


# -- look-ups ---------------------------------------------------------------------------------------

SPANS = pd.DataFrame(
    [
        ("600001", "2026-03-02", "2026-03-05", "海星股份", False),
        ("600001", "2026-03-06", "2026-03-10", "ST海星", True),
        ("600001", "2026-03-11", None, "退市海星", False),
        ("600002", "2026-03-06", None, "退市甲", False),
        ("600003", "2026-03-02", "2026-03-05", "乙", False),
    ],
    columns=["code", "valid_from", "valid_to", "name", "is_st"],
)


def look_up(code: str, date: str) -> tuple[object, float, bool]:
    found = named(pd.DataFrame({"code": [code], "date": [date]}), SPANS)
    return found.name[0], float(found.special[0]), bool(found.delisting_began[0])


@pytest.mark.parametrize(
    ("code", "date", "name", "special", "began"),
    [
        ("600001", "2026-03-05", "海星股份", 0.0, False),
        ("600001", "2026-03-06", "ST海星", 1.0, False),
        ("600001", "2026-03-10", "ST海星", 1.0, False),
        ("600001", "2026-03-11", "退市海星", 0.0, True),
        ("600001", "2026-03-12", "退市海星", 0.0, False),
        # Nobody saw the delisting period of this one begin.
        ("600002", "2026-03-06", "退市甲", 0.0, False),
    ],
)
def test_a_date_has_the_name_of_its_span(
    code: str, date: str, name: str, special: float, began: bool
) -> None:
    assert look_up(code, date) == (name, special, began)


@pytest.mark.parametrize(
    ("code", "date"),
    [("600002", "2026-03-05"), ("600003", "2026-03-06"), ("600004", "2026-03-06"), ("600001", "2026-03-01")],
)
def test_a_date_outside_every_span_has_no_name_and_no_state(code: str, date: str) -> None:
    name, special, began = look_up(code, date)

    assert pd.isna(name)
    assert np.isnan(special)
    assert not began


def test_no_spans_at_all_say_nothing() -> None:
    found = named(pd.DataFrame({"code": ["600001"], "date": ["2026-03-05"]}), SPANS[:0])

    assert np.isnan(found.special).all()
    assert not found.delisting_began.any()


@pytest.mark.parametrize(
    ("shown_name", "plain", "special"),
    [
        ("XDST海星", "ST海星", True),
        ("XD*ST海", "*ST海", True),
        ("NST金泰", "ST金泰", True),
        ("S ST光明", "SST光明", True),
        ("S*ST一投", "S*ST一投", True),
        ("st张家界", "st张家界", True),
        ("N马矿", "马矿", False),
        ("XD贵州茅", "贵州茅", False),
        ("C科达", "科达", False),
    ],
)
def test_one_day_prefixes_stand_before_special_treatment_too(
    shown_name: str, plain: str, special: bool
) -> None:
    assert (plain_name(shown_name), is_st(shown_name)) == (plain, special)
