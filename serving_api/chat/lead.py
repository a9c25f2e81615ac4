"""The first lines of an answer by rules, and how a fact stands in them."""

import re
from dataclasses import dataclass, field

from platform_assets.compute.evidence.facts import Fact
from platform_assets.compute.evidence.wording import change, flow, said
from serving_api.evidence.packs import NO


@dataclass
class Lead:
    """`lines` come first, each with its citations; of the sections of an answer only those
    of `sections` follow, all of them where it is None."""

    lines: list[str] = field(default_factory=list)
    sections: frozenset[str] | None = None
    has_offers: bool = False
    """Whether things that can be asked follow."""

    @classmethod
    def alone(cls, *lines: str) -> "Lead":
        return cls(list(lines), frozenset())

    @classmethod
    def asking_back(cls, line: str) -> "Lead":
        return cls([line], frozenset(), has_offers=True)


def shown(fact: Fact) -> str:
    """`市盈率TTM 21.53倍[E9]`; changes and flows with their direction."""
    if fact.column in ("change_pct", "chg_20d", "chg_60d") and fact.number is not None:
        word = (
            change(fact)
            if fact.column == "change_pct"
            else f"{fact.label.removesuffix('涨跌幅')}{change(fact)}"
        )
        return f"{word}[{fact.id}]"
    if fact.column == "main_net" and fact.number is not None:
        return f"主力资金{flow(fact)}[{fact.id}]"
    if fact.column == "is_st":
        return f"{'不是' if fact.value == NO else '是'}ST股票[{fact.id}]"
    space = " " if fact.label[-1:].isascii() else ""
    unit = "倍" if fact.column.startswith(("pe_ttm", "pb")) and fact.unit == "" else ""
    unit = "户" if fact.column == "holder_num" else unit
    value = quoted(fact) if fact.number is None else f"{said(fact)}{unit}[{fact.id}]"
    return f"{fact.label}{space}{value}"


def quoted(fact: Fact) -> str:
    text = said(fact)
    return f"{text}[{fact.id}]" if re.fullmatch(r"[\d-]+", text) else f"“{text}”[{fact.id}]"
