"""A query over one row per code.

Conditions are three-valued arrays: 1 true, 0 false, NaN unknown. A comparison with a value that is not there
is unknown, and so is its `not`; only what is true is selected.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints, Texts
from core.market.names import plain_industry
from platform_assets.compute import series
from platform_assets.compute.dsl import tree
from platform_assets.compute.dsl.checks import bars_needed, is_condition, kind_of, scale_of, unit_of
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.words import FUNCTIONS
from platform_assets.compute.dsl.written import text_of
from platform_assets.compute.language import walk
from platform_assets.compute.nan_arithmetic import average_ranks
from platform_assets.compute.three_valued import all_of, any_of, compared, denied, where_known

INDUSTRY = "industry"
"""The text whose level mark (白酒Ⅱ) counts for nothing: sources write the same industry either way."""
_WILD = str.maketrans({"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"})
_TIMES = {"亿": Decimal(10**8), "万": Decimal(10**4)}


@dataclass(frozen=True)
class Table:
    """One row per code. `columns[field]` is float64 (NaN missing; a flag 1 or 0) or, for texts, an object
    array (None missing); values are in the field's unit. A field that is not there is missing everywhere."""

    codes: Texts
    columns: Mapping[str, npt.NDArray[Any]]

    def __len__(self) -> int:
        return len(self.codes)

    def numbers(self, name: str) -> Floats:
        found = self.columns.get(name)
        return np.full(len(self), np.nan) if found is None else found

    def texts(self, name: str) -> Texts:
        found = self.columns.get(name)
        return np.full(len(self), None, dtype=object) if found is None else found


History = Mapping[str, Floats]
"""Column of bars -> [codes of the table, bars], the newest bar last, NaN in front; in the field's unit."""


@dataclass(frozen=True)
class Step:
    """One part of a query that all must fulfil."""

    condition: str
    fields: tuple[str, ...]
    matched: int
    unknown: int
    remaining: int


@dataclass(frozen=True)
class Selection:
    """`rows`: positions in the table, in the order asked for. `steps`: what each part left."""

    rows: Ints
    steps: tuple[Step, ...]


def select(query: tree.Query, table: Table, history: History) -> Selection:
    """The rows for which the query holds. `history` has what `columns_needed` names."""
    parts = query.where.items if isinstance(query.where, tree.And) else (query.where,)
    held = np.ones(len(table), dtype=bool)
    steps = []
    rows = _Rows(table, history)
    with np.errstate(all="ignore"):
        for part in parts:
            found = rows.condition(part)
            held &= found == 1
            named = tuple(dict.fromkeys(n.name for n in walk(part) if isinstance(n, tree.Field)))
            unknown = int(np.isnan(found).sum())
            steps.append(Step(text_of(part), named, int((found == 1).sum()), unknown, int(held.sum())))
    chosen = np.flatnonzero(held)
    chosen = chosen[_ordered(query.order, table, chosen)]
    return Selection(chosen[: query.limit], tuple(steps))


def _ordered(order: Sequence[tree.Order], table: Table, rows: Ints) -> Ints:
    """Positions within `rows`; missing values come last either way, equal ones by code."""
    keys: list[npt.NDArray[Any]] = [table.codes[rows].astype(str)]
    for one in reversed(order):
        if catalogue()[one.field].kind == "text":
            values = table.texts(one.field)[rows]
            missing = np.array([value is None for value in values], dtype=bool)
            place = np.unique(np.where(missing, "", values).astype(str), return_inverse=True)[1]
            ranked: Floats = place.astype(np.float64)
        else:
            ranked = table.numbers(one.field)[rows]
            missing = np.isnan(ranked)
        keys += [np.where(missing, 0.0, -ranked if one.descending else ranked), missing]
    return np.lexsort(keys)


class _Rows:
    """Evaluates over the rows of the table."""

    def __init__(self, table: Table, history: History) -> None:
        self._table = table
        self._history = history
        self._shape: tuple[int, ...] = (len(table),)

    # -- conditions ---------------------------------------------------------------------------------

    def condition(self, node: tree.Node) -> Floats:
        match node:
            case tree.And():
                return all_of([self.condition(item) for item in node.items])
            case tree.Or():
                return any_of([self.condition(item) for item in node.items])
            case tree.Not():
                return denied(self.condition(node.operand))
            case tree.Flag():
                return self._field(node.field)
            case tree.IsNull():
                missing = self._missing(node.field)
                return np.asarray(missing != node.negated, dtype=np.float64)
            case _:
                return self._comparison(node)

    def _comparison(self, node: tree.Node) -> Floats:
        match node:
            case tree.Compare() if kind_of(node.left) == "text":
                return self._same_text(node)
            case tree.Compare():
                scale = scale_of(node.left if unit_of(node.left) is not None else node.right)
                left, right = self.number(node.left, scale), self.number(node.right, scale)
                return self._whole(compared(node.sign, left, right))
            case tree.Between():
                bounds = (node.value, node.low, node.high)
                scale = scale_of(next((one for one in bounds if unit_of(one) is not None), node.value))
                value, low, high = (self.number(one, scale) for one in bounds)
                return self._whole(where_known((value >= low) & (value <= high), value, low, high))
            case tree.In() if kind_of(node.field) == "text":
                plain = _plain_of(node.field)
                requested = {plain(str(one.value)) for one in node.values}
                return self._of_texts(node.field, lambda text: (plain(text) in requested) != node.negated)
            case tree.In():
                value = self._field(node.field)
                scale = scale_of(node.field)
                within = np.isin(value, [float(self.number(one, scale)) for one in node.values])
                return self._whole(where_known(within != node.negated, value))
            case tree.Like():
                pattern, plain = Pattern(node.pattern), _plain_of(node.field)
                return self._of_texts(
                    node.field, lambda text: pattern.fits(text) or pattern.fits(plain(text))
                )
        raise AssertionError(node)

    def _whole(self, held: Floats) -> Floats:
        """One value for every row, also of constants."""
        return np.broadcast_to(held, self._shape)

    def _missing(self, field: tree.Field) -> npt.NDArray[np.bool_]:
        if kind_of(field) == "text":
            return np.array([value is None for value in self._table.texts(field.name)], dtype=bool)
        return np.isnan(self._field(field))

    def _same_text(self, node: tree.Compare) -> Floats:
        pairs = zip(self._text(node.left), self._text(node.right), strict=True)
        plain = _plain_of(node.left, node.right)
        requested = node.sign == "="
        return np.array(
            [
                np.nan if a is None or b is None else float((plain(a) == plain(b)) is requested)
                for a, b in pairs
            ]
        )

    def _text(self, node: tree.Expression) -> Texts:
        if isinstance(node, tree.Text):
            return np.full(len(self._table), node.value, dtype=object)
        assert isinstance(node, tree.Field)  # noqa: S101  the parser lets nothing else through
        return self._table.texts(node.name)

    def _of_texts(self, field: tree.Field, holds: Any) -> Floats:
        values = self._table.texts(field.name)
        return np.array([np.nan if value is None else float(holds(value)) for value in values])

    # -- values -------------------------------------------------------------------------------------

    def number(self, node: tree.Node, scale: float) -> Floats:
        """A value in units of `scale` CNY or shares; a constant without unit is in them already."""
        if isinstance(node, tree.Number):
            times = _TIMES.get(node.unit)
            exact = node.value if times is None else node.value * times / Decimal(scale)
            return np.asarray(float(exact))
        is_constant = unit_of(node) is None
        own = scale if is_constant else scale_of(node)
        value = self._own(node, own)
        return value if own == scale else value * (own / scale)

    def _own(self, node: tree.Node, scale: float) -> Floats:
        """A value in its own unit."""
        match node:
            case tree.Field():
                return self._field(node)
            case tree.Negative():
                return -self.number(node.operand, scale)
            case tree.Arithmetic():
                return self._arithmetic(node, scale)
            case tree.Call() if node.period is not None:
                return self.over_bars(node)
            case tree.Call(function="rank" | "pct_rank"):
                only = node.arguments[0]
                return _ranked(np.broadcast_to(self.number(only, scale_of(only)), self._shape), node.function)
            case tree.Call():
                values = [self.number(one, scale) for one in node.arguments]
                return _PLAIN[node.function](values)
        raise AssertionError(node)

    def _arithmetic(self, node: tree.Arithmetic, scale: float) -> Floats:
        has_left, has_right = (unit_of(one) is not None for one in (node.left, node.right))
        # Two quantities give a third one: both in CNY and shares.
        is_mixed = node.sign in "*/" and has_right and (has_left or node.sign == "/")
        left, right = (self.number(one, 1.0 if is_mixed else scale) for one in (node.left, node.right))
        value = _ARITHMETIC[node.sign](left, right)
        return np.where(np.isfinite(value), value, np.nan)

    def _field(self, field: tree.Field) -> Floats:
        return self._table.numbers(field.name)

    def over_bars(self, call: tree.Call) -> Floats:
        return _Bars(self._table, self._history, bars_needed(call)).over_bars(call)[:, -1]


class _Bars(_Rows):
    """Evaluates over the last bars of every code; the same number of bars whatever else is held."""

    def __init__(self, table: Table, history: History, bars: int) -> None:
        super().__init__(table, history)
        self._bars = bars
        self._shape = (len(table), bars)

    def _field(self, field: tree.Field) -> Floats:
        return series.newest(self._history[catalogue()[field.name].series], self._bars)

    def over_bars(self, call: tree.Call) -> Floats:
        inner = call.arguments[0]
        period = call.period or 1
        if is_condition(inner):
            return series.count(self.condition(inner), period)
        value = np.broadcast_to(self.number(inner, scale_of(inner)), self._shape)
        if call.function == "change":
            changed = (value / series.ref(value, period) - 1) * 100
            return np.where(np.isfinite(changed), changed, np.nan)
        function = getattr(series, call.function)
        found: Floats = function(value, period)
        return found


def _plain_of(*nodes: tree.Node) -> Callable[[str], str]:
    """How texts are compared with one of these: industries by their plain names, all others as they are."""
    is_industry = any(isinstance(node, tree.Field) and node.name == INDUSTRY for node in nodes)
    return plain_industry if is_industry else str


_ARITHMETIC: dict[str, Any] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


_PLAIN: dict[str, Callable[[Sequence[Floats]], Floats]] = {
    "abs": lambda values: np.abs(values[0]),
    "min": partial(reduce, np.minimum),
    "max": partial(reduce, np.maximum),
}
assert {one.name for one in FUNCTIONS.values() if one.kind == "plain"} == set(_PLAIN)  # noqa: S101


def _ranked(values: Floats, function: str) -> Floats:
    if function == "pct_rank":
        ranks, count = average_ranks(values)
        return ranks / max(count, 1) * 100
    known = np.sort(values[~np.isnan(values)])
    place = len(known) - np.searchsorted(known, values, side="right") + 1.0
    return np.where(np.isnan(values), np.nan, place)


class Pattern:
    """Texts like a pattern; case does not matter, and one without % and _ may lie anywhere in the text."""

    def __init__(self, pattern: str) -> None:
        folded = _folded(pattern)
        folded = folded if set(folded) & {"%", "_"} else f"%{folded}%"
        # Translated, each piece is tied to its first place: no text makes it try all places of all pieces.
        self._fits = re.compile(fnmatch.translate(folded.translate(_WILD))).match

    def fits(self, text: str) -> bool:
        """Whether the whole text is such a one."""
        return self._fits(_folded(text)) is not None


def _folded(text: str) -> str:
    """In small letters, one character for one."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)
