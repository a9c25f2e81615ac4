"""Formulas: what is one, what its functions give (as MyTT defines them), and what looks ahead."""

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest

from platform_assets.compute.formulas.builtin import BUILTINS
from platform_assets.compute.formulas.evaluate import CODES_AT_ONCE, along, newest, output_of
from platform_assets.compute.formulas.functions import FUNCTIONS, LOOK_AHEAD
from platform_assets.compute.formulas.parser import parse
from platform_assets.compute.formulas.tree import Formula
from platform_assets.compute.language import LanguageError
from tests.compute.formulas.grown import Grower

NAN = float("nan")
BARS = 620
Row = pd.Series


@pytest.fixture(scope="module")
def bars() -> dict[str, Any]:
    """Two codes, the second listed late; prices in steps of a fen."""
    rng = np.random.default_rng(11)
    close = np.round(20 + rng.normal(0, 0.3, (2, BARS)).cumsum(axis=1), 2)
    open_ = np.round(close + rng.normal(0, 0.2, close.shape), 2)
    held = {
        "open": open_,
        "close": close,
        "high": np.maximum(open_, close) + 0.1,
        "low": np.minimum(open_, close) - 0.1,
        "volume": rng.integers(1, 1000, close.shape).astype(float),
        "amount": rng.integers(1, 1000, close.shape) * 1e4,
    }
    for values in held.values():
        values[1, :200] = NAN
    return held


def value(text: str, bars: dict[str, Any], row: int = 0) -> Row:
    formula = parse(text)
    with np.errstate(all="ignore"):
        return pd.Series(along(formula, bars, bars["close"].shape)[row])


def tried(text: str) -> Formula | LanguageError:
    try:
        return parse(text)
    except LanguageError as wrong:
        return wrong


def error(text: str) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    return caught.value


def recursive(x: Row, weight: Any) -> Row:
    out, state = [], None
    weights = weight if isinstance(weight, pd.Series) else pd.Series(weight, x.index)
    for one, part in zip(x, weights, strict=True):
        state = one if state is None else state + part * (one - state)
        out.append(state)
    return pd.Series(out)


def since(held: Row) -> Row:
    out, last = [], NAN
    for one in held:
        last = 0 if one else last + 1
        out.append(last)
    return pd.Series(out)


def streak(held: Row) -> Row:
    out, last = [], 0
    for one in held:
        last = last + 1 if one else 0
        out.append(last)
    return pd.Series(out)


REFERENCES = {
    "MA(C,5)": lambda c, v: c.rolling(5).mean(),
    "EMA(C,12)": lambda c, v: c.ewm(span=12, adjust=False).mean(),
    "SMA(C,9,2)": lambda c, v: c.ewm(alpha=2 / 9, adjust=False).mean(),
    "WMA(C,4)": lambda c, v: c.rolling(4).apply(lambda w: (w * [1, 2, 3, 4]).sum() / 10, raw=True),
    "DMA(C,V/1000)": lambda c, v: recursive(c, v / 1000),
    "REF(C,3)": lambda c, v: c.shift(3),
    "HHV(C,20)": lambda c, v: c.rolling(20).max(),
    "LLV(C,20)": lambda c, v: c.rolling(20).min(),
    "HHVBARS(C,20)": lambda c, v: c.rolling(20).apply(lambda w: np.argmax(w[::-1]), raw=True),
    "LLVBARS(C,20)": lambda c, v: c.rolling(20).apply(lambda w: np.argmin(w[::-1]), raw=True),
    "SUM(V,7)": lambda c, v: v.rolling(7).sum(),
    "COUNT(C>20,9)": lambda c, v: (c > 20).rolling(9).sum(),
    "STD(C,10)": lambda c, v: c.rolling(10).std(ddof=1),
    "STDP(C,10)": lambda c, v: c.rolling(10).std(ddof=0),
    "AVEDEV(C,10)": lambda c, v: c.rolling(10).apply(lambda w: np.abs(w - w.mean()).mean(), raw=True),
    "SLOPE(C,10)": lambda c, v: c.rolling(10).apply(lambda w: np.polyfit(range(10), w, 1)[0], raw=True),
    "ABS(C-20)": lambda c, v: (c - 20).abs(),
    "MAX(C,20)": lambda c, v: c.clip(lower=20),
    "MIN(C,20)": lambda c, v: c.clip(upper=20),
    "SQRT(C)": lambda c, v: np.sqrt(c),
    "LN(C)": lambda c, v: np.log(c),
    "POW(C,2)": lambda c, v: c**2,
    "IF(C>20,V,-V)": lambda c, v: v.where(c > 20, -v),
    "BETWEEN(C,21,19)": lambda c, v: c.between(19, 21).astype(float),
}  # fmt: skip


@pytest.mark.parametrize("text", REFERENCES)
def test_a_function_gives_what_terminals_give(text: str, bars: dict[str, Any]) -> None:
    c, v = pd.Series(bars["close"][0]), pd.Series(bars["volume"][0])
    np.testing.assert_allclose(value(text, bars), REFERENCES[text](c, v), rtol=1e-9, atol=1e-9)


def test_functions_that_remember(bars: dict[str, Any]) -> None:
    c = pd.Series(bars["close"][0])
    held = c > 20
    np.testing.assert_array_equal(value("BARSLAST(C>20)", bars), since(held))
    np.testing.assert_array_equal(value("BARSLASTCOUNT(C>20)", bars), streak(held))
    fast, slow = c.rolling(5).mean(), c.rolling(20).mean()
    crossed = (fast > slow) & (fast.shift() <= slow.shift())
    assert value("CROSS(MA(C,5),MA(C,20))", bars).eq(1).tolist() == crossed.tolist()
    np.testing.assert_array_equal(value("EVERY(C>20,3)", bars)[2:], held.rolling(3).min()[2:])
    np.testing.assert_array_equal(value("EXIST(C>20,3)", bars)[2:], held.rolling(3).max()[2:])
    below = (c < slow).rolling(4).sum().shift() == 4
    assert value("LONGCROSS(C,MA(C,20),4)", bars).eq(1)[30:].tolist() == ((c > slow) & below)[30:].tolist()
    kept, free = [], 0
    for at, one in enumerate(crossed):
        kept.append(bool(one) and at >= free)
        free = at + 31 if kept[-1] else free
    assert value("FILTER(CROSS(MA(C,5),MA(C,20)),30)", bars).eq(1).tolist() == kept


def test_windows_since_a_condition(bars: dict[str, Any]) -> None:
    c, v = pd.Series(bars["close"][0]), pd.Series(bars["volume"][0])
    ago = since(c == c.rolling(30).max())
    at = np.arange(BARS) - ago
    requested = [NAN if np.isnan(one) else c[int(one)] for one in at]
    cond = "BARSLAST(C=HHV(C,30))"
    np.testing.assert_array_equal(value(f"REF(C,{cond})", bars), requested)
    sums = [NAN if np.isnan(one) else v[int(one) + 1 : end + 1].sum() for end, one in enumerate(at)]
    np.testing.assert_allclose(value(f"SUM(V,{cond})", bars), sums)
    sums = [NAN if np.isnan(one) else v[int(one) : end + 1].sum() for end, one in enumerate(at)]
    np.testing.assert_allclose(value(f"N:={cond}; SUM(V,N+1)", bars), sums)
    counts = [NAN if np.isnan(one) else (v > 500)[int(one) + 1 : end + 1].sum() for end, one in enumerate(at)]
    np.testing.assert_array_equal(value(f"COUNT(V>500,{cond})", bars), counts)


def test_what_is_not_known_is_neither_true_nor_false(bars: dict[str, Any]) -> None:
    late = value("COUNT(C>O,20)", bars, row=1)
    assert late[:219].isna().all()
    assert late[219:].notna().all()
    unknown = value("REF(C,5)>0", bars)[:5]
    assert unknown.isna().all()
    assert value("NOT(REF(C,5)>0)", bars)[:5].isna().all()
    assert value("REF(C,5)>0 AND C<0", bars)[:5].eq(0).all()
    assert value("REF(C,5)>0 OR C>0", bars)[:5].eq(1).all()
    for undefined in ("C/(O-O)", "SQRT(-C)", "LN(0-C)", "POW(-C,0.5)"):
        assert value(undefined, bars).isna().all()


def test_a_moving_weight_outside_of_0_to_1_is_passed_over(bars: dict[str, Any]) -> None:
    c, v = pd.Series(bars["close"][0]), pd.Series(bars["volume"][0])
    weight = v / 500
    held = value("DMA(C,V/500)", bars)
    assert 20 < (weight > 1).sum() < BARS - 20
    assert held[1:].isna().tolist() == (weight > 1)[1:].tolist()
    inside = weight <= 1
    inside[0] = True  # the first value is taken as it is
    np.testing.assert_allclose(held[inside][1:], recursive(c[inside], weight[inside])[1:], rtol=1e-9)
    assert value("DMA(C,-V)", bars)[1:].isna().all()
    np.testing.assert_array_equal(value("DMA(C,1)", bars), c)


def test_statements_comments_and_signs(bars: dict[str, Any]) -> None:
    c = pd.Series(bars["close"][0])
    text = "{ two means } 快线:=MA(CLOSE,5); n:=10;\nslow:ma(c,n); 快线 - slow <> 0 && c >= -1 || 1 == 2;"
    assert value(text, bars)[20:].eq(1).all()
    assert output_of(parse(text)) == "bool"
    np.testing.assert_allclose(value("A:MA(C,5);B:=MA(C,9)", bars), c.rolling(5).mean())
    np.testing.assert_allclose(value("-C+2*3-(4-1)/+3", bars), -c + 5)
    assert output_of(parse("IF(C>O,C,O)")) == "number"
    assert output_of(parse("x:=CROSS(C,O); IF(C>O,x,NOT(x))")) == "bool"


@pytest.mark.parametrize(
    ("text", "code", "position", "reported"),
    [
        ("ZIG(3,5) > C", "lookahead", 0, {"token": "ZIG"}),
        ("C > backset(C > O, 5)", "lookahead", 4, {"token": "backset"}),
        ("REF(C,-1) > C", "lookahead", 6, {"token": "-"}),
        ("N:=1;\nREFX(C,1) > C", "lookahead", 6, {"line": 2, "column": 1}),
        ("ISLASTBAR AND C > O", "lookahead", 0, {}),
        ("MA(C,V)", "type", 5, {"token": "V"}),
        ("MA(C,2.5)", "type", 5, {}),
        ("MA(C,BARSLAST(C>O))", "type", 5, {}),
        ("REF(C,BARSLAST(C>O)-1)", "type", 6, {}),
        ("MA(C,0)", "limit", 5, {"expected": ["1..500"]}),
        ("MA(C,501)", "limit", 5, {}),
        ("MA(MA(MA(C,500),500),500)", "limit", 0, {}),
        ("AVEDEV(C,500)", "limit", 0, {}),
        ("SMA(C,1,500)", "limit", 8, {"token": "500", "expected": ["1..1"]}),
        ("N:=4; SMA(C,3,N)", "limit", 14, {"token": "N"}),
        ("DMA(C,5)", "limit", 6, {"token": "5", "expected": ["0..1"]}),
        ("N:=-0.5; DMA(C,N)", "limit", 15, {"token": "N"}),
        ("MAA(C,5)", "unknown_field", 0, {"suggestion": "MA"}),
        ("CLOS > 5", "unknown_field", 0, {"suggestion": "CLOSE"}),
        ("MA(C)", "syntax", 4, {"expected": [","]}),
        ("MA(C,5,3)", "syntax", 6, {"expected": [")"]}),
        ("MA > 3", "syntax", 3, {"expected": ["("]}),
        ("C >", "syntax", 3, {"expected": ["number", "series", "function", "(", "not"]}),
        ("", "syntax", 0, {}),
        ("A:=C;", "syntax", 5, {}),
        ("A:=C; A:=O; A", "syntax", 6, {}),
        ("C:=O; C", "syntax", 0, {}),
        ("C > O > 3", "syntax", 6, {}),
        ("{ no end", "syntax", 8, {}),
        ("C > 'x'", "syntax", 4, {}),
        ("C # O", "syntax", 2, {}),
    ],
)
def test_what_is_said_of_a_wrong_formula(text: str, code: str, position: int, reported: Any) -> None:
    wrong = error(text)
    assert (wrong.code, wrong.position) == (code, position)
    assert wrong.reported() | reported == wrong.reported()


def test_nothing_that_looks_ahead_is_a_function() -> None:
    assert not LOOK_AHEAD & FUNCTIONS.keys()
    for name in LOOK_AHEAD:
        assert error(f"{name}(C,5) > 1").code == "lookahead"


@pytest.mark.parametrize("builtin", BUILTINS, ids=lambda one: one.key)
def test_a_formula_of_ours_gives_the_same_however_much_is_held(builtin: Any, bars: dict[str, Any]) -> None:
    formula = parse(builtin.text)
    needed = formula.result.bars
    assert needed <= BARS
    held = newest(formula, bars, 2)
    short = {name: values[:, BARS - needed :] for name, values in bars.items()}
    np.testing.assert_array_equal(newest(formula, short, 2), held)
    # What it says of a day does not change when the days after it are known.
    day = {name: values[:, :-10] for name, values in bars.items()}
    whole = value(builtin.text, bars)
    if not any(word in builtin.text for word in ("EMA", "SMA", "BARSLAST")):
        np.testing.assert_array_equal(newest(formula, day, 2)[0], whole[BARS - 11])
    else:
        np.testing.assert_allclose(newest(formula, day, 2)[0], whole[BARS - 11], rtol=1e-6)


def test_a_grown_formula_parses_and_has_a_value_per_stock(bars: dict[str, Any]) -> None:
    grower = Grower(20260822)
    evaluated = 0
    for _ in range(300):
        text = grower.formula()
        formula = tried(text)
        if isinstance(formula, LanguageError):
            assert formula.code == "limit", (text, formula.reported())
            continue
        evaluated += 1
        values = newest(formula, bars, 2)
        assert values.shape == (2,)
        if output_of(formula) == "bool":
            assert set(values[~np.isnan(values)]) <= {0.0, 1.0}, text
        longer = {name: np.hstack([np.full((2, 7), 1.0), held]) for name, held in bars.items()}
        if formula.result.bars <= BARS:
            np.testing.assert_array_equal(newest(formula, longer, 2), values, err_msg=text)
    assert evaluated > 200


def test_names_within_names_are_looked_into_once(bars: dict[str, Any]) -> None:
    """Each of them uses the one before twice: an evaluation that follows every use never ends."""
    steps = ["x0:=REF(C,1)", *(f"x{n}:=IF(C>O,x{n - 1},x{n - 1}+0)" for n in range(1, 18))]
    formula = parse(";".join([*steps, "x17"]))
    assert (formula.result.bars, output_of(formula)) == (2, "number")
    assert newest(formula, bars, 2).tolist() == bars["close"][:, -2].tolist()
    doubled = ["x0:=C", *(f"x{n}:=x{n - 1}+x{n - 1}" for n in range(1, 40))]
    assert (
        newest(parse(";".join([*doubled, "x39"])), bars, 2).tolist()
        == (bars["close"][:, -1] * 2**39).tolist()
    )
    held = ["x0:=C>O", *(f"x{n}:=IF(C>O,x{n - 1},x{n - 1})" for n in range(1, 28))]
    assert output_of(parse(";".join([*held, "x27"]))) == "bool"


def test_formulas_of_ours_are_named_once() -> None:
    assert len({one.key for one in BUILTINS}) == len(BUILTINS) >= 15
    assert {output_of(parse(one.text)) for one in BUILTINS} == {"bool", "number"}


def test_a_short_history_has_no_value(bars: dict[str, Any]) -> None:
    held = {name: values[:, -4:] for name, values in bars.items()}
    assert np.isnan(newest(parse("MA(C,5)"), held, 2)).all()
    assert newest(parse("MA(C,4)>0"), held, 2).tolist() == [1, 1]


def test_names_are_held_of_some_codes_at_a_time() -> None:
    """Otherwise one formula of anybody takes gigabytes: each name is a block of the whole market."""
    codes, width = 5_000, 60
    rng = np.random.default_rng(3)
    held = {"close": rng.normal(10, 1, (codes, width))}
    names = [f"A{n}:=C*{n}" for n in range(1, 31)]
    formula = parse(f"{';'.join(names)};{'+'.join(f'A{n}' for n in range(1, 31))}+REF(C,{width - 1})")
    of_all = codes * width * 8

    tracemalloc.start()
    try:
        values = newest(formula, held, codes)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 8 * of_all
    np.testing.assert_allclose(values, held["close"][:, -1] * 465 + held["close"][:, 0])


@pytest.mark.parametrize("codes", [0, 1, CODES_AT_ONCE, CODES_AT_ONCE + 1])
def test_codes_keep_their_place_whatever_is_held_at_a_time(codes: int) -> None:
    held = {"close": np.arange(codes * 3, dtype=float).reshape(codes, 3)}
    assert newest(parse("C-REF(C,1)+C"), held, codes).tolist() == [3.0 * n + 3 for n in range(codes)]
