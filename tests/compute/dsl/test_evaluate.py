"""What a query selects: values that are missing, units, texts, functions over the market and over bars."""

import random
from typing import Any

import numpy as np
import pytest

from platform_assets.compute.dsl.checks import columns_needed
from platform_assets.compute.dsl.evaluate import Pattern, Selection, Table, select
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.language import LanguageError
from tests.compute.dsl.grown import Grower

NAN = float("nan")
CODES = ["000001", "000002", "600000", "600519", "688981"]
BARS = 60


@pytest.fixture(scope="module")
def table() -> Table:
    numbers = {
        "pe_ttm": [5.0, 25.0, NAN, 30.0, -3.0],
        "pb": [0.5, 1.5, 0.8, 8.0, NAN],
        "break_fail_days_5d": [5.0, 1.0, 5.0, 9.0, 7.0],
        "roe": [11.0, 15.0, 9.0, 31.5, 0.0],
        "st": [0.0, 1.0, 0.0, NAN, 0.0],
        # 10k CNY
        "total_market_cap": [2.1e7, 999_999.99, 1_000_000.0, 2.2e8, 873_291.2],
        "float_market_cap": [2.0e7, 500_000.0, 1_000_000.0, 2.2e8, NAN],
        # CNY
        "amount": [1.0e9, 5.0e7, 3.0e8, 4.0e9, 0.0],
        "price": [10.0, 20.0, 30.0, 1700.0, 50.0],
        # lots, shares
        "volume": [300.0, 200.0, 100.0, 50.0, 10.0],
        "vol_ma5": [30_000.0, 30_000.0, 5_000.0, 5_000.0, 999.0],
    }
    texts = {
        "code": CODES,
        "name": ["平安银行", "*ST万科", "浦发银行", "贵州茅台", None],
        "industry": ["银行", "地产", "银行", "白酒", None],
    }
    columns: dict[str, Any] = {name: np.array(values) for name, values in numbers.items()}
    columns |= {name: np.array(values, dtype=object) for name, values in texts.items()}
    return Table(np.array(CODES, dtype=object), columns)


@pytest.fixture(scope="module")
def history() -> dict[str, Any]:
    close = np.cumsum(np.random.default_rng(3).normal(0, 0.2, (5, BARS)), axis=1) + 20
    close[1, :50] = NAN  # listed ten bars ago
    close[4] = NAN
    volume = np.tile(np.arange(BARS, dtype=float), (5, 1))
    return {"close": close, "high": close + 1, "volume": volume}


def chosen(text: str, table: Table, history: Any = None) -> list[str]:
    return [CODES[row][-3:] for row in found(text, table, history).rows]


def found(text: str, table: Table, history: Any = None) -> Selection:
    return select(parse(text), table, history or {})


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("pe_ttm < 20", ["001", "981"]),
        ("not pe_ttm < 20", ["002", "519"]),
        ("pe_ttm is null", ["000"]),
        ("pe_ttm is not null and pb is not null", ["001", "002", "519"]),
        ("pe_ttm < 20 or pb < 1", ["001", "000", "981"]),
        ("not (pe_ttm < 20 or pb < 1)", ["002", "519"]),
        ("not (pe_ttm > 20 and pb > 1)", ["001", "000", "981"]),
        ("pe_ttm between 5 and 25", ["001", "002"]),
        ("not pe_ttm between 5 and 25", ["519", "981"]),
        ("pe_ttm in (5, -3, 30.0)", ["001", "519", "981"]),
        ("pe_ttm not in (5)", ["002", "519", "981"]),
        ("st", ["002"]),
        ("not st", ["001", "000", "981"]),
        ("st is null", ["519"]),
        ("roe >= 15%", ["002", "519"]),
        ("total_market_cap >= 100亿", ["001", "000", "519"]),
        ("100亿 <= total_market_cap", ["001", "000", "519"]),
        ("total_market_cap >= 1000000", ["001", "000", "519"]),
        ("total_market_cap = 87.32912亿", ["981"]),
        ("total_market_cap in (100亿)", ["000"]),
        ("total_market_cap >= 2 * 50亿", ["001", "000", "519"]),
        ("total_market_cap - float_market_cap > 50亿 - 1", ["001", "002"]),
        ("amount >= 3亿", ["001", "000", "519"]),
        ("amount / total_market_cap > 0.01", ["000"]),
        ("amount > total_market_cap * 0.001", ["001", "002", "000", "519"]),
        ("volume >= vol_ma5 / 1.5", ["001", "002", "000", "519", "981"]),
        ("volume * 100 > 20000", ["001"]),
        ("pe_ttm / (pb - 0.5) > 0", ["002", "519"]),
        ("abs(pe_ttm) <= 5", ["001", "981"]),
        ("max(pe_ttm, pb * 20) > 26", ["002", "519"]),
        ("min(pe_ttm, pb, roe) < 1", ["001"]),
        ("-pe_ttm > 0", ["981"]),
        ("rank(total_market_cap) <= 2", ["001", "519"]),
        ("pct_rank(pe_ttm) > 50%", ["002", "519"]),
        # Equal ones share their mean rank: of five values the two 5.0 are at (2 + 3) / 2.
        ("pct_rank(break_fail_days_5d) = 50", ["001", "000"]),
        ("rank(break_fail_days_5d) = 3", ["001", "000"]),
        ("name like '银行'", ["001", "000"]),
        ("name like '%st%'", ["002"]),
        ("name like '贵州__'", ["519"]),
        ("name like '%'", ["001", "002", "000", "519"]),
        ("name like '____'", ["001", "000", "519"]),
        ("name like '%行%行'", []),
        ("name like '平%_行'", ["001"]),
        ("name like '%_ST%'", ["002"]),
        ("name like ''", ["001", "002", "000", "519"]),
        ("not name like '银行'", ["002", "519"]),
        ("industry in ('银行', '白酒')", ["001", "000", "519"]),
        ("industry not in ('银行')", ["002", "519"]),
        ("industry != '银行'", ["002", "519"]),
        ("name is null", ["981"]),
        ("vpa_health > 0 or vpa_health <= 0", []),
        ("vpa_health is null", ["001", "002", "000", "519", "981"]),
        ("triangle_kind is null", ["001", "002", "000", "519", "981"]),
        ("1 < 2 and pb < 1", ["001", "000"]),
    ],
)
def test_what_is_selected(text: str, codes: list[str], table: Table) -> None:
    assert chosen(text, table) == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("industry in ('银行', '白酒')", ["001", "519"]),
        ("industry = '白酒Ⅱ'", ["519"]),
        ("industry != '银行Ⅱ'", ["002", "000", "519"]),
        ("industry not in ('IT服务Ⅱ')", ["001", "000", "519"]),
        ("industry = 'IT服务'", ["002"]),
        ("industry like '白酒'", ["519"]),
        ("industry like 'it%务'", ["002"]),
        ("industry like '%Ⅱ'", ["001", "002", "519"]),
        ("name = '平安银行Ⅱ'", []),
    ],
)
def test_the_mark_of_an_industry_s_level_does_not_count(text: str, codes: list[str], table: Table) -> None:
    stored = np.array(["银行Ⅱ", "IT服务Ⅱ", "股份制银行", "白酒Ⅱ", None], dtype=object)
    held = Table(table.codes, {**table.columns, "industry": stored})
    assert chosen(text, held) == codes


def fits(pattern: str, text: str) -> bool:
    """The definition: of every piece of the pattern, which pieces of the text it is."""
    if not set(pattern) & {"%", "_"}:
        return pattern in text
    reached = {0}
    for char in pattern:
        if char == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(text) and char in {"_", text[at]}}
    return len(text) in reached


def test_a_pattern_is_what_its_signs_say() -> None:
    chance = random.Random(20260823)
    held = 0
    for _ in range(20_000):
        pattern = "".join(chance.choices("%_ab", k=chance.randint(0, 8)))
        text = "".join(chance.choices("ab", k=chance.randint(0, 8)))
        assert Pattern(pattern).fits(text) is fits(pattern, text), (pattern, text)
        held += fits(pattern, text)
    assert held > 2_000


def test_many_wildcards_in_a_row_are_read_once() -> None:
    text = "a" * 400
    assert not Pattern("%a" * 300 + "%b%").fits(text)
    assert not Pattern("%_" * 300 + "%b").fits(text)
    assert Pattern("%a_" * 100 + "%").fits(text)


def test_every_grown_query_can_be_evaluated(table: Table) -> None:
    grower = Grower(20260824)
    rows = len(table)
    names = np.array(["a" * 60, "银行Ab", "ST", "", None], dtype=object)
    held = Table(table.codes, {**table.columns, "name": names, "industry": names, "market": names})
    past = 20 + np.cumsum(np.random.default_rng(7).normal(0, 0.3, (rows, 250)), axis=1)
    selected = 0
    for _ in range(600):
        text = grower.query()
        try:
            query = parse(text)
        except LanguageError:
            continue
        found = select(query, held, dict.fromkeys(columns_needed(query.where), past))
        assert len(set(found.rows.tolist())) == len(found.rows) <= rows, text
        assert all(0 <= step.remaining <= step.matched <= rows - step.unknown for step in found.steps), text
        selected += len(found.rows)
    assert selected


def test_order_and_limit(table: Table) -> None:
    everything = "code is not null order by "
    assert chosen(everything + "pe_ttm desc", table) == ["519", "002", "001", "981", "000"]
    assert chosen(everything + "pe_ttm", table)[-1] == "000"
    assert [CODES[row] for row in found(everything + "industry desc, pb desc", table).rows] == [
        "600000", "000001", "600519", "000002", "688981",
    ]  # fmt: skip
    assert chosen(everything + "st asc, code desc limit 3", table) == ["981", "000", "001"]


def test_the_plan_says_what_each_part_left(table: Table) -> None:
    steps = found("pe_ttm > 0 and pb < 10 and not st", table).steps
    assert [(step.condition, step.matched, step.unknown, step.remaining) for step in steps] == [
        ("pe_ttm > 0", 3, 1, 3),
        ("pb < 10", 4, 1, 3),
        ("not st", 3, 1, 1),
    ]
    assert [step.fields for step in steps] == [("pe_ttm",), ("pb",), ("st",)]


def test_functions_over_bars(table: Table, history: Any) -> None:
    close, high = history["close"], history["high"]
    mean = close[:, -20:].mean(axis=1)

    def where(mask: Any) -> list[str]:
        return [CODES[at][-3:] for at in np.flatnonzero(mask)]

    assert chosen("ma(close, 20) > 0", table, history) == where(mean > 0)
    assert chosen("ma(close, 10) > 0", table, history) == ["001", "002", "000", "519"]
    falling = close[:, -1] / close[:, -6] < 1
    assert chosen("change(close, 5) < 0", table, history) == where(falling)
    assert chosen("ref(close, 3) > ref(close, 4)", table, history) == where(close[:, -4] > close[:, -5])
    peak = high[:, -10:].max(axis=1)
    assert chosen("hhv(high, 10) = ref(hhv(high, 5), 5)", table, history) == where(
        peak == high[:, -10:-5].max(axis=1)
    )
    rising = (np.diff(close[:, -11:], axis=1) > 0).sum(axis=1)
    assert chosen("count(close > ref(close, 1), 10) >= 5", table, history) == where(
        (rising >= 5) & np.isfinite(close[:, -11])
    )
    assert chosen("ma(volume, 5) * 100 > 5699", table, history) == ["001", "002", "000", "519", "981"]
    assert chosen("vol_ma5 > ma(volume, 5)", table, history) == ["001", "002"]


def test_a_value_does_not_depend_on_how_much_history_is_held(table: Table) -> None:
    close = 20 + np.cumsum(np.random.default_rng(5).normal(0, 0.3, (5, 900)), axis=1)
    query = parse("ema(close, 12) > 0 and ema(ref(close, 2), 60) > 0")
    needs = columns_needed(query.where)
    assert needs == {"close": 602}
    exact = [
        chosen("ema(close, 12) > ema(close, 26)", table, {"close": close[:, -bars:]}) for bars in (260, 900)
    ]
    assert exact[0] == exact[1]


def test_what_a_query_reads_of_the_bars() -> None:
    query = parse("price > hhv(high, 20) * 0.98 and ma(ref(close, 5), 10) < 3 and count(volume > 1, 7) = 7")
    assert columns_needed(query.where) == {"high": 20, "close": 15, "volume": 7}
