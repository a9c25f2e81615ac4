"""Texts made of declarations: descriptions of tables and checks for the Dagster UI and the derived
documentation.

Pure text over declarations, so that both say the same and neither is written by hand.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pandera.api.checks import Check

from core.declaration.columns import ColumnSpec, Model, model_checks
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.rules import Fields, Freshness, Partition, Rows
from core.declaration.tables import Layer

SCHEMA_CHECK = "schema"

_LAYERS = {
    "raw": "Each row is one upstream record as received (RAW).",
    "stg": "Each row is one key of one source; the RAW feeds are brought into one schema (STG).",
    "dwd": "Each row is one key, checked and fused from its sources, with provenance and versions (DWD).",
    "ref": "A reference table: facts that other tables read.",
    "calc": "Calculated from stored tables.",
}
_PARTITIONS = {
    Partition.TRADE_DATE: "one partition per trade date",
    Partition.EVENT_DATE: "one partition per trade date, with the events of the days since the one before",
    Partition.REPORT_PERIOD: "unpartitioned: report periods, those that are being disclosed",
    Partition.SNAPSHOT: "unpartitioned: the newest state of every key",
    Partition.CODE: "unpartitioned: the whole past of every code",
}
_UNITS = {"trading": "trade date", "calendar": "day", "period": "day"}


@dataclass(frozen=True)
class CheckText:
    """One check of a fused table. `kind`: schema, hard, contract, soft or whole."""

    name: str
    kind: str
    text: str


def first_line(text: str | None) -> str:
    """The first sentence of a docstring, on one line; '' without one."""
    paragraph = inspect.cleandoc(text or "").split("\n\n")[0]
    return " ".join(paragraph.split())


def spoken(name: str) -> str:
    """`price_in_range` as 'price in range'."""
    return name.replace("_", " ")


def table_text(title: str, layer: str) -> str:
    """The title of a table as a sentence, and what its rows are."""
    return f"{title.rstrip('.')}. {_LAYERS.get(layer, '')}".strip()


def partition_text(partition: Partition) -> str:
    return _PARTITIONS[partition]


def freshness_text(rule: Freshness | None) -> str:
    if rule is None:
        return "not watched"
    unit = _UNITS[rule.kind] + ("" if rule.max_lag == 1 else "s")
    after = " after the end of its period" if rule.kind == "period" else " old"
    return f"`{rule.column}` is at most {rule.max_lag} {unit}{after}"


def fetch_text(source: Source) -> str:
    """`tencent`: what its function says it does."""
    about = first_line(source.fetch.__doc__)
    return f"`{source.name}`: {about}" if about else f"`{source.name}`"


def fusion_text(dataset: Dataset) -> str:
    """How the sources become one row."""
    order = " > ".join(f"`{name}`" for name in dataset.source_order)
    if not order:
        return "are computed from stored tables"
    if len(dataset.source_order) == 1:
        return f"come from {order}"
    if dataset.layer is not Layer.DWD:
        return f"come from the first of {order} that answers"
    rule = dataset.fuse
    if isinstance(rule, Rows):
        text = f"are chosen whole: the first of {order} with a valid row"
        if rule.finer:
            names = ", ".join(f"`{name}`" for name in rule.finer)
            text += f"; {names} take the digits of `{rule.finer_source}` where both agree within rounding"
        if rule.fills:
            names = ", ".join(f"`{name}`" for name in rule.fills)
            text += f"; {names} of the next source where the chosen row has none"
        for word, columns in (("earliest", rule.earliest), ("longest", rule.longest)):
            text += "".join(f"; the {word} `{name}` of all sources" for name in columns)
        return text
    return f"are put together column by column: the first of {order} with a valid value" + _exceptions(rule)


def _exceptions(rule: Fields) -> str:
    text = ""
    if rule.order:
        own = "; ".join(f"`{name}`: {' > '.join(order)}" for name, order in sorted(rule.order.items()))
        text += f" (own order for {own})"
    if rule.tolerance:
        limits = ", ".join(f"`{name}` by {limit:.3g} %" for name, limit in _percent(rule).items())
        text += f"; sources that differ by more than that are marked as a conflict: {limits}"
    return text


def _percent(rule: Fields) -> dict[str, float]:
    return {name: limit * 100 for name, limit in sorted(rule.tolerance.items())}


def dataset_checks(dataset: Dataset) -> tuple[CheckText, ...]:
    """Every check of the fused table, in the order in which they run."""
    model: type[Model] | None = dataset.model
    if model is None:
        return ()
    found = [schema_check()]
    for check in model_checks(model):
        found.append(_named(str(check.name), "hard", _hard_text(model, check)))
    for contract in dataset.contract:
        found.append(_named(contract.name, "contract", contract.message or _about(contract.check)))
    for soft in dataset.soft:
        found.append(_named(soft.name, "soft", soft.message or _about(soft.check)))
    for whole in dataset.whole:
        found.append(_named(whole.name, "whole", _about(whole.check)))
    return tuple(found)


def schema_check() -> CheckText:
    return CheckText(
        SCHEMA_CHECK,
        "schema",
        "Every value has its type, length, range and allowed values, and no key comes twice; "
        "a row that breaks a limit is rejected and recorded.",
    )


_REACTIONS = {
    "hard": "Must hold: {}. A row that fails is rejected and recorded.",
    "contract": "Refuses: {}. The row is rejected; with too many of one source, all of its rows are refused.",
    "soft": "Warns: {}. The row is kept with quality 'warning' and this name as its flag.",
    "whole": "Expects of the partition as a whole: {}. A warning; no row is changed.",
}


def _named(name: str, kind: str, what: str) -> CheckText:
    return CheckText(name, kind, _REACTIONS[kind].format(what.rstrip(".") or spoken(name)))


def _hard_text(model: type[Model], check: Check) -> str:
    return first_line(getattr(getattr(model, str(check.name), None), "__doc__", "")) or spoken(
        str(check.name)
    )


def _about(function: Callable[..., Any]) -> str:
    return first_line(function.__doc__) or spoken(function.__name__)


_COMPARED = {
    "greater_than": ("> ", "min_value"),
    "greater_than_or_equal_to": (">= ", "min_value"),
    "less_than": ("< ", "max_value"),
    "less_than_or_equal_to": ("<= ", "max_value"),
    "equal_to": ("= ", "value"),
}


def limit_text(check: Check) -> str:
    """A column's hard limit in words: `> 0`, `one of SH, SZ, BJ`."""
    name, facts = str(check.name), check.statistics or {}
    if name in _COMPARED:
        sign, fact = _COMPARED[name]
        return f"{sign}{facts[fact]}"
    if name == "isin":
        return "one of " + ", ".join(str(value) for value in facts["allowed_values"])
    if name == "str_matches":
        return f"matches {getattr(facts['pattern'], 'pattern', facts['pattern'])}"
    if name == "str_length":
        least, most = facts.get("min_value"), facts.get("max_value")
        return f"{least or 0}..{most or ''} characters".replace(".. ", " or more ")
    return str(check.error or name)


def column_limits(spec: ColumnSpec, key: tuple[str, ...]) -> tuple[str, ...]:
    """Hard limits of a column: key or not null, then each limit."""
    first = ("key",) if spec.name in key else () if spec.nullable else ("not null",)
    return (*first, *(limit_text(check) for check in spec.checks))


def type_text(spec: ColumnSpec) -> str:
    """A column's type as the UI shows it: `float [CNY]`, `text(16)`."""
    kind = "datetime" if spec.family == "time" else str(spec.family)
    size = f"({spec.column_type.length})" if spec.column_type.length else ""
    return f"{kind}{size}" + (f" [{spec.unit}]" if spec.unit else "")


def raw_about(raw: Raw) -> str:
    """The description of a RAW table."""
    how = (
        "every source is asked, one success is enough"
        if raw.combine == "all"
        else "the next source is asked only when one fails"
    )
    lines = [table_text(raw.title or raw.table_name, "raw"), ""]
    lines += [f"- Sources ({how}):", *(f"  - {fetch_text(source)}" for source in raw.sources)]
    return _joined(lines, raw.partition, raw.key, raw.freshness)


def stage_about(dataset: Dataset) -> str:
    """The description of a staging table."""
    feeds = ", ".join(f"`{feed}`" for feed in dataset.feeds)
    partition = Partition.SNAPSHOT if dataset.dimension else dataset.partition
    lines = [table_text(f"{dataset.title or dataset.name}, staged", "stg"), "", f"- Fed by {feeds}"]
    return _joined(lines, partition, dataset.stage_table.key, None)


def fused_about(dataset: Dataset) -> str:
    """The description of a fused or reference table."""
    lines = [table_text(dataset.title or dataset.name, str(dataset.layer)), ""]
    lines.append(f"- Rows {fusion_text(dataset)}")
    lines += [f"  - {fetch_text(source)}" for source in dataset.sources]
    if dataset.derive:
        lines.append(f"- Then computed: {', '.join(spoken(step.__name__) for step in dataset.derive)}")
    if dataset.domain:
        lines.append(f"- Written under the domain lock `{dataset.domain}`")
    return _joined(lines, dataset.partition, dataset.key, dataset.freshness)


def _joined(lines: list[str], partition: Partition, key: tuple[str, ...], freshness: Freshness | None) -> str:
    lines.append(f"- Key {', '.join(f'`{name}`' for name in key)}; {partition_text(partition)}")
    if freshness is not None:
        lines.append(f"- Fresh while {freshness_text(freshness)}")
    return "\n".join(lines)
