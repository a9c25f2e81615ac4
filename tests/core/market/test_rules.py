"""Boards, security types and dated limits, against values that the exchanges publish."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.market import rules, securities


@pytest.mark.parametrize(
    ("code", "market", "board", "kind"),
    [
        ("600519", "SH", "main", "stock"),
        ("000001", "SZ", "main", "stock"),
        ("000001", "SH", "", "index"),
        ("399006", "SZ", "", "index"),
        ("300750", "sz", "gem", "stock"),
        ("302132", "SZ", "gem", "stock"),
        ("688981", "SH", "star", "stock"),
        ("689009", "SH", "star", "stock"),
        ("920002", "BJ", "bj", "stock"),
        ("835185", "BJ", "bj", "stock"),
        ("899050", "BJ", "", "index"),
        ("900901", "SH", "", "b"),
        ("200011", "SZ", "", "b"),
        ("510300", "SH", "", "etf"),
        ("588000", "SH", "", "etf"),
        ("159915", "SZ", "", "etf"),
        ("161725", "SZ", "", "lof"),
        ("501018", "SH", "", "lof"),
        ("508000", "SH", "", "reit"),
        ("180101", "SZ", "", "reit"),
        ("113050", "SH", "", "cb"),
        ("123001", "SZ", "", "cb"),
        ("204001", "SH", "", "repo"),
    ],
)
def test_a_code_belongs_to_a_board_and_a_type_of_its_market(code, market, board, kind):
    assert securities.board_of(code, market) == board
    assert securities.sec_type_of(code, market) == kind


@pytest.mark.parametrize(
    ("board", "is_st", "day", "pct"),
    [
        ("main", False, "2024-01-02", 10),
        ("main", True, "2026-07-03", 5),
        ("main", True, "2026-07-06", 10),
        ("gem", False, "2020-08-21", 10),
        ("gem", False, "2020-08-24", 20),
        ("gem", True, 20200821, 5),
        ("gem", True, 20240102, 20),
        ("star", True, "2024-01-02", 20),
        ("bj", False, "2024-01-02", 30),
        ("index", False, "2024-01-02", None),
        ("cb", False, "2022-07-29", None),
        ("cb", False, "2022-08-01", 20),
    ],
)
def test_limits_change_on_their_dates(board, is_st, day, pct):
    assert rules.limit_pct(board, is_st, day) == pct


@pytest.mark.parametrize(
    ("preclose", "board", "is_st", "up", "down"),
    [
        (1.15, "main", False, 1.27, 1.04),  # float rounding gives 1.26
        (10.05, "main", False, 11.06, 9.05),
        (0.05, "main", True, 0.06, 0.04),  # at least one tick
        (0.01, "main", False, 0.02, 0.01),  # never under one tick
        (12.34, "gem", False, 14.81, 9.87),
        (1.234, "etf", False, 1.357, 1.111),
    ],
)
def test_limit_prices_are_half_up_ticks(preclose, board, is_st, up, down):
    assert rules.price_limits(preclose, board, is_st, "2024-01-02") == (up, down)


@pytest.mark.parametrize(
    ("board", "day", "listed", "limits"),
    [
        ("main", "2023-04-07", 1, (14.4, 6.4)),
        ("main", "2023-04-10", 1, (None, None)),
        ("main", "2023-04-14", 5, (None, None)),
        ("main", "2023-04-17", 6, (11.0, 9.0)),
        ("gem", "2020-08-21", 1, (14.4, 6.4)),
        ("gem", "2020-08-24", 5, (None, None)),
        ("star", "2019-07-22", 1, (None, None)),
        ("star", "2019-07-29", 6, (12.0, 8.0)),
        ("bj", "2024-01-02", 1, (None, None)),
        ("bj", "2024-01-03", 2, (13.0, 7.0)),
    ],
)
def test_first_listed_days_follow_the_regime(board, day, listed, limits):
    assert rules.price_limits(10.0, board, False, day, listed) == limits


def test_delisting_period_and_relisting():
    assert rules.price_limits(1.0, "main", True, "2024-06-03", delisting_day=1) == (None, None)
    assert rules.price_limits(1.0, "main", True, "2024-06-04", delisting_day=2) == (1.1, 0.9)
    assert rules.price_limits(8.84, "main", False, "2021-08-10", relisting=True) == (None, None)


def test_every_rule_has_one_row_a_day():
    for row in rules.RULES:
        others = [r for r in rules.RULES if (r.rule, r.scope) == (row.rule, row.scope) and r is not row]
        assert not [r for r in others if r.covers(rules.day_number(row.valid_from))], row
    keys = [(r.rule, r.scope, r.valid_from) for r in rules.RULES]
    assert len(keys) == len(set(keys))


def test_lots_and_ticks():
    assert rules.lot_of("star") == (200, 1)
    assert rules.lot_of("main") == (100, 100)
    assert rules.tick_of("etf") == 0.001
    assert rules.rule_on("fee", "stamp", "2023-08-25").value == 0.1
    assert rules.rule_on("fee", "stamp", "2023-08-28").value == 0.05


@given(
    st.lists(
        st.tuples(
            st.integers(1, 300_000),
            st.sampled_from(["main", "gem", "star", "bj", "etf", "index"]),
            st.booleans(),
            st.sampled_from(["2019-12-31", "2020-08-24", "2023-04-10", "2026-07-03", "2026-07-06"]),
            st.integers(0, 9),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_the_frame_version_equals_the_single_one(rows):
    fen, board, flag, day, listed = zip(*rows, strict=True)
    preclose = np.asarray(fen) / 100
    up, down = rules.limit_prices(
        preclose, np.asarray(board), np.asarray(flag), np.asarray(day), listed_days=np.asarray(listed)
    )
    for at in range(len(rows)):
        single = rules.price_limits(preclose[at], board[at], flag[at], day[at], listed[at])
        got = tuple(None if np.isnan(x[at]) else x[at] for x in (up, down))
        assert got == single


def test_the_frame_version_knows_missing_precloses_and_exempt_days():
    up, down = rules.limit_prices(
        np.asarray([np.nan, 10.0, 10.0]),
        np.asarray(["main", "main", "main"]),
        np.zeros(3, dtype=bool),
        np.asarray(["2024-01-02"] * 3),
        unlimited=np.asarray([False, True, False]),
    )
    assert np.isnan(up[:2]).all()
    assert (up[2], down[2]) == (11.0, 9.0)
