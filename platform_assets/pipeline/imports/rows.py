"""Rows of a file as the columns of a dataset: codes, dates, units, adjustment. What cannot be read is refused
with its file, row and reason."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from core.calendar import TradeCalendar
from core.days import is_closed
from core.declaration.columns import ColumnSpec
from core.declaration.dataset import Dataset
from core.declaration.rules import Partition
from core.market.securities import (
    CB,
    ETF,
    INDEX,
    LOF,
    OTHER,
    REIT,
    STOCK,
    decimals_of,
    lot_of_kind,
    sec_type_of,
)
from core.market.symbols import MARKET_OF_MARK, NOTATION
from platform_assets.compute.periods import period_ends, period_starts
from platform_assets.pipeline.checks import coerce_model, hard_masks
from platform_assets.pipeline.imports.files import FILE, ROW
from platform_assets.pipeline.imports.mapping import FACTORS, PRICES, FileMapping

PLACES = ("file_name", "file_row")
SHOWN = 20
"""Refused rows that are named; all of them are counted."""
_CODE = f"^{NOTATION}$"
_SYMBOL = r"^(sh|sz|bj)(\d{6})$"
_HELD = (STOCK, ETF, LOF, REIT, CB)
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_FORMATS = ("%Y-%m-%d", "%Y%m%d", "%Y/%m/%d")


@dataclass
class Refused:
    """What is not taken: how often for which reason, and the first rows."""

    counts: Counter[str] = field(default_factory=Counter)
    shown: list[dict[str, Any]] = field(default_factory=list)
    rows: int = 0
    files: dict[str, str] = field(default_factory=dict)
    """Files of many that are left out as a whole -> why; the others are imported."""

    def add(self, frame: pd.DataFrame, mask: Any, reason: str, column: str | None = None) -> None:
        """The rows of `mask`, if there is any, which stay in the frame."""
        if not mask.any():
            return
        self.counts[reason] += int(mask.sum())
        for row in frame[mask].head(max(SHOWN - len(self.shown), 0)).to_dict("records"):
            value = None if column is None or column not in row else row[column]
            self.shown.append(
                {
                    "file": row["file_name"],
                    "row": int(row["file_row"]),
                    "reason": reason,
                    "value": None if pd.isna(value) else str(value)[:60],
                }
            )

    def add_all(self, other: "Refused") -> None:
        """What was refused elsewhere as well."""
        self.counts.update(other.counts)
        self.shown = [*self.shown, *other.shown][:SHOWN]
        self.rows += other.rows
        self.files |= other.files

    @property
    def text(self) -> str:
        """The first of them, and how many there are."""
        if not self.shown:
            return next((f"{name}: {why}; {len(self.files)} files are left out"
                         for name, why in self.files.items()), "")  # fmt: skip
        first = self.shown[0]
        value = "" if first["value"] is None else f" ({first['value']})"
        return f"{first['file']}, row {first['row']}: {first['reason']}{value}; {self.rows} rows are refused"


@dataclass(frozen=True)
class Reading:
    """Turns chunks into rows of one dataset, by a mapping."""

    dataset: Dataset
    mapping: FileMapping
    calendar: TradeCalendar
    now: str

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the rows: those of the staging table, and where each row is."""
        return (*(spec.name for spec in self.dataset.stage_table.columns), *PLACES)

    def rows(self, chunk: pd.DataFrame, refused: Refused) -> pd.DataFrame:
        """The rows that can be stored, in the staging table's columns and units."""
        frame = pd.DataFrame(
            {"file_name": chunk[FILE].to_numpy(), "file_row": chunk[ROW].to_numpy()}, index=chunk.index
        )
        specs = {spec.name: spec for spec in self.dataset.stage_table.columns}
        for name, value in self.mapping.fixed.items():
            frame[name] = value
        for name, column in self.mapping.columns.items():
            frame[name] = self._value(specs[name], chunk[column.source], column.format)
        bad = self._identify(frame, refused)
        lost = self._unreadable(frame, specs, refused)
        self._scale(frame, chunk, specs)
        if self.dataset.name == "kline_bar":
            self._periods(frame, ~bad)
        bad = bad | lost
        typed, destroyed = coerce_model(frame, self._model, PLACES)
        bad = bad | self._fails(typed, destroyed, bad, refused)
        refused.rows += int(bad.sum())
        good = typed[~bad].reset_index(drop=True) if bad.any() else typed
        return good[list(self.names)]

    @property
    def _model(self) -> Any:
        return self.dataset.model

    @staticmethod
    def _value(spec: ColumnSpec, values: pd.Series, form: str | None) -> pd.Series:
        if spec.family == "date":
            return _days(values, form)
        if spec.name == "code":
            at, known = pd.factorize(values, use_na_sentinel=False)
            return pd.Series(np.array([*map(_code_text, known)], dtype=object)[at], index=values.index)
        return values

    def _identify(self, frame: pd.DataFrame, refused: Refused) -> Any:
        """Sets code and, where the dataset has them, market and type; rows without a code or a day of the
        calendar."""
        if not self.dataset.of_stocks:
            return self._identify_indices(frame, refused) | self._outside(frame, refused)
        at, texts = pd.factorize(frame["code"], use_na_sentinel=False)
        known = pd.Series(texts).astype("string").str.extract(_CODE)
        parts = known.iloc[at].set_axis(frame.index)
        code = parts["code"].astype(object).where(parts["code"].notna(), None)
        unknown = code.isna().to_numpy()
        refused.add(frame, unknown, "code: not six digits, with or without a market", "code")
        given = parts["before"].fillna(parts["after"]).str.lower().map(MARKET_OF_MARK)
        frame["code"] = code
        specs = {spec.name for spec in self.dataset.stage_table.columns}
        kinds, markets = _kinds(code, given)
        if "market" in specs and "market" not in frame:
            frame["market"] = markets
        if "sec_type" in specs and "sec_type" not in frame:
            frame["sec_type"] = kinds
            foreign = (frame["sec_type"] == OTHER).to_numpy() & ~unknown
            refused.add(frame, foreign, "code: of no security that is held; say its market", "code")
            unknown = unknown | foreign
        return unknown | self._outside(frame, refused)

    @staticmethod
    def _identify_indices(frame: pd.DataFrame, refused: Refused) -> Any:
        """The codes of indices keep their market: sh000001 is one, sz000001 a bank."""
        symbols = frame["code"].astype("string").str.lower()
        parts = symbols.str.extract(_SYMBOL)
        kinds = {pair: sec_type_of(pair[1], pair[0]) for pair in set(zip(parts[0], parts[1], strict=True))
                 if isinstance(pair[0], str)}  # fmt: skip
        fine = [kinds.get(pair) == INDEX for pair in zip(parts[0], parts[1], strict=True)]
        frame["code"] = symbols.astype(object)
        foreign = ~np.array(fine, dtype=bool)
        refused.add(frame, foreign, "code: of no index, with its market before it", "code")
        return foreign

    def _outside(self, frame: pd.DataFrame, refused: Refused) -> Any:
        column = str(self.dataset.date_column)
        days = frame[column]
        lost = days.isna().to_numpy()
        refused.add(frame, lost, f"{column}: no date, or of another format", column)
        future = (days.fillna("") > self.now[:10]).to_numpy()
        refused.add(frame, future, f"{column}: lies in the future", column)
        if self.dataset.partition is not Partition.TRADE_DATE:
            return lost | future
        known = set(self.calendar.between(str(days.min()), str(days.max()))) if days.notna().any() else set()
        strange = ~days.isin(list(known)).to_numpy() & ~lost & ~future
        refused.add(frame, strange, f"{column}: no trade date of the calendar", column)
        return lost | future | strange

    def _unreadable(self, frame: pd.DataFrame, specs: Mapping[str, ColumnSpec], refused: Refused) -> Any:
        """Turns columns of numbers into numbers; rows where one is none."""
        bad = np.zeros(len(frame), dtype=bool)
        for name in [one for one in frame.columns if one in specs and specs[one].family in ("float", "int")]:
            if pd.api.types.is_numeric_dtype(frame[name]):
                continue
            numbers = pd.to_numeric(frame[name], errors="coerce")
            lost = (numbers.isna() & frame[name].notna()).to_numpy(dtype=bool)
            refused.add(frame, lost, f"{name}: no number", name)
            bad = bad | lost
            frame[name] = numbers
        return bad

    def _scale(self, frame: pd.DataFrame, chunk: pd.DataFrame, specs: Mapping[str, ColumnSpec]) -> None:
        """Figures in the units of the dataset, prices as they were traded."""
        kinds = frame.get("sec_type")
        for name, column in self.mapping.columns.items():
            factor = FACTORS.get(specs[name].unit, {}).get(column.unit or "", 1.0)
            if factor == 1.0:
                continue
            by: Any = factor
            if column.unit == "lot" and kinds is not None:
                lots = {kind: lot_of_kind(kind) for kind in kinds.unique()}
                by = kinds.map(lots).to_numpy(dtype=float)
            frame[name] = frame[name].astype(float) * by
        if self.mapping.factor is None or self.mapping.adjust == "none":
            return
        factors = pd.to_numeric(chunk[self.mapping.factor], errors="coerce").to_numpy(dtype=float)
        factors = np.where(factors > 0, factors, np.nan)
        decimals = _decimals(frame)
        for name in [one for one in PRICES if one in frame]:
            frame[name] = np.round(frame[name].to_numpy(dtype=float) / factors * decimals) / decimals
        if self.mapping.volume_adjusted and "volume" in frame:
            frame["volume"] = frame["volume"].astype(float) * factors

    def _periods(self, frame: pd.DataFrame, fine: Any) -> None:
        """Week, month, quarter and year bars are stored under the last trade date of their period, which a
        file may name by any of its days."""
        for name in ("last_date", "bar_count"):
            if name not in frame:
                frame[name] = None
        for period in frame.loc[fine, "period"].dropna().unique():
            mine = fine & (frame["period"] == period).to_numpy() & frame["date"].notna().to_numpy()
            if period not in ("week", "month", "quarter", "year") or not mine.any():
                continue
            days = frame.loc[mine, "date"].tolist()
            first, last = f"{int(min(days)[:4]) - 1}-12-01", f"{int(max(days)[:4]) + 1}-01-31"
            grid = self.calendar.between(first, last)
            days = [self.calendar.on_or_before(day) for day in days]
            starts = period_starts(days, grid, period)
            spans = dict(zip(days, zip(starts, period_ends(days, grid, period), strict=True), strict=True))
            counts = {
                span: len(self.calendar.between(span[0], min(span[1], self.now[:10])))
                for span in spans.values()
            }
            ends = [spans[day][1] for day in days]
            frame.loc[mine, "date"] = ends
            own = frame.loc[mine, "last_date"]
            held = [
                end if is_closed(end, self.now) else min(day, end)
                for day, end in zip(days, ends, strict=True)
            ]
            frame.loc[mine, "last_date"] = own.where(own.notna(), pd.Series(held, index=own.index))
            known = frame.loc[mine, "bar_count"]
            filled = pd.Series([counts[spans[day]] for day in days], index=known.index, dtype=object)
            frame.loc[mine, "bar_count"] = known.where(known.notna(), filled)

    def _fails(self, typed: pd.DataFrame, destroyed: Mapping[str, Any], bad: Any, refused: Refused) -> Any:
        """Rows that break a hard limit of the dataset."""
        found = bad.copy()
        for check, mask in hard_masks(typed, self._model, dict(destroyed)).items():
            refused.add(typed, mask & ~found, check.replace(":", ": "), check.partition(":")[0])
            found = found | mask
        return found


def _code_text(value: Any) -> str | None:
    """A code as text; a whole number gets the zeros back that its format dropped."""
    if pd.isna(value):
        return None
    if isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer()):
        return f"{int(value):06d}"
    return str(value).strip()


def _days(values: pd.Series, form: str | None) -> pd.Series:
    """ISO days; null where a value is none."""
    if pd.api.types.is_datetime64_any_dtype(values):
        texts = np.datetime_as_string(values.to_numpy(dtype="datetime64[D]")).astype(object)
        return pd.Series(texts, index=values.index).where(values.notna(), None)
    texts = {value: _day(value, form) for value in values.dropna().unique()}
    return values.map(texts).astype(object).where(values.notna(), None)


@lru_cache(maxsize=65_536)
def _day(value: Any, form: str | None) -> str | None:
    if hasattr(value, "strftime"):
        return str(value.strftime("%Y-%m-%d"))
    text = str(int(value)) if isinstance(value, (float, np.floating)) else str(value).strip()
    if form is None and _ISO.fullmatch(text):
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            return None
    for pattern in (form,) if form else _FORMATS:
        found = pd.to_datetime(text[:10] if pattern == _FORMATS[0] else text, format=pattern, errors="coerce")
        if found is not pd.NaT:
            return str(found.strftime("%Y-%m-%d"))
    return None


def _kinds(codes: pd.Series, given: pd.Series) -> tuple[Any, Any]:
    """(types, markets) of codes; where the file names no market, the one where the number is a security."""
    named = given.astype(object).where(given.notna(), None)
    pairs = list(zip(codes, named, strict=True))
    known = {pair: _kind(*pair) for pair in set(pairs)}
    found = [known[pair] for pair in pairs]
    return [kind for kind, _ in found], [market for _, market in found]


def _kind(code: str | None, market: str | None) -> tuple[str, str | None]:
    if code is None:
        return OTHER, None
    if market is not None:
        return sec_type_of(code, market), market
    held = [one for one in ("SH", "SZ", "BJ") if sec_type_of(code, one) in _HELD]
    return (sec_type_of(code, held[0]), held[0]) if len(held) == 1 else (OTHER, None)


def _decimals(frame: pd.DataFrame) -> Any:
    """10 ** decimals of each row's price."""
    if "sec_type" not in frame or "market" not in frame:
        return 100.0
    pairs = list(zip(frame["sec_type"], frame["market"], strict=True))
    known = {pair: 10.0 ** decimals_of(str(pair[0]), str(pair[1])) for pair in set(pairs)}
    return np.array([known[pair] for pair in pairs])
