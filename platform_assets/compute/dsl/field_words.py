"""The words that the catalogue of fields is written in."""

from dataclasses import dataclass
from typing import Any

GROUPS = {
    "identity": "基本信息",
    "quote": "行情",
    "valuation": "估值",
    "finance": "财务",
    "capital": "资金",
    "gains": "区间涨幅",
    "indicator": "技术指标",
    "chip": "筹码",
    "pattern": "形态",
    "factor": "因子得分",
    "limit": "涨停",
    "score": "评分",
}
"""Key and Chinese name of each group, in the order in which they are shown."""

COMPARISONS = ("=", "!=", ">", ">=", "<", "<=", "between", "in", "not in", "is null", "is not null")
TEXT_OPERATORS = ("=", "!=", "in", "not in", "like", "is null", "is not null")
FLAG_OPERATORS = ("=", "is null", "is not null")
"""A flag is written alone in a query; `= true` and `= false` are how a list of conditions says it."""

SCALES = {"wan": 1e4, "yi": 1e8, "lot": 100.0}
"""What a unit is of CNY, or of shares; every other unit is itself."""


@dataclass(frozen=True)
class Field:
    """One field. `kind` is number, text or flag; `unit` '', pct, CNY, wan (10k CNY), lot (100 shares) or
    days; `series` the column of bars that its history comes from, '' for a field without one."""

    name: str
    label: str
    kind: str
    unit: str
    table: str
    column: str
    example: str
    aliases: tuple[str, ...] = ()
    series: str = ""
    options: tuple[str | int, ...] = ()
    note: str = ""
    positive: bool = False
    """whether a value of 0 or less is missing"""

    @property
    def operators(self) -> tuple[str, ...]:
        return {"text": TEXT_OPERATORS, "flag": FLAG_OPERATORS}.get(self.kind, COMPARISONS)


def number(
    name: str, label: str, unit: str, table: str, example: str, *,
    column: str = "", aliases: str = "", **more: Any,
) -> Field:  # fmt: skip
    """A field with numbers; `column` where its name is another, `more` as in `Field`."""
    others = tuple(aliases.split())
    return Field(name, label, "number", unit, table, column or name, example, others, **more)


def text(name: str, label: str, table: str, example: str, *, aliases: str = "", **more: Any) -> Field:
    """A field with texts; `more` as in `Field`."""
    return Field(name, label, "text", "", table, name, example, tuple(aliases.split()), **more)


def flag(name: str, label: str, table: str, example: str, *, column: str, note: str = "") -> Field:
    return Field(name, label, "flag", "", table, column, example, note=note)
