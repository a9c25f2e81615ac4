"""Hard gates: what keeps a stock out of every pick, and what only warns.

Checked in the order of the specification: the first that blocks names the reason, and all warnings are
listed with it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.market.names import special
from platform_assets.compute.parameters.factors import DEBT_RATIO_HARD_LIMIT, DEBT_RATIO_WARN, ROE_HARD_LIMIT

GATE_COLUMNS = ("name", "is_st", "roe", "debt_ratio", "revenue_yoy", "net_profit_yoy")
"""Columns of `fusion_stock_wide` that the gates look at."""


@dataclass(frozen=True)
class Gate:
    """Result of the gates for a stock on a date. `code` and `reason` name what blocks it; None: it passes."""

    blocked: bool
    code: str | None
    reason: str | None
    warnings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.blocked

    def plain(self) -> dict[str, Any]:
        """The gate as a JSON object."""
        return {"passed": self.passed, **vars(self), "warnings": list(self.warnings)}


def check_gates(
    *,
    st: bool,
    roe: float | None,
    debt_ratio: float | None,
    revenue_yoy: float | None,
    profit_yoy: float | None,
    block_on_missing_financials: bool = False,
) -> Gate:
    """The gates of one stock. `st`: special treatment on the date. Figures in percent, None or NaN where they
    are missing."""
    roe, debt, revenue, profit = map(_known, (roe, debt_ratio, revenue_yoy, profit_yoy))
    blocks: list[tuple[str, str]] = []
    warnings: list[str] = []
    if st:
        blocks.append(("st", "ST in the name on the date"))
    if roe is not None and roe < ROE_HARD_LIMIT:
        blocks.append(("roe_negative", f"ROE {roe:.2f} % is below {ROE_HARD_LIMIT:g} %"))
    if debt is not None and debt > DEBT_RATIO_HARD_LIMIT:
        blocks.append(("debt_high", f"debt ratio {debt:.2f} % is above {DEBT_RATIO_HARD_LIMIT:g} %"))
    if roe is None and debt is None and revenue is None and profit is None:
        text = "ROE, debt ratio, revenue and profit are all missing"
        warnings.append(text)
        if block_on_missing_financials:
            blocks.append(("financials_missing", text))
    if revenue is not None and profit is not None and revenue < 0 and profit < 0:
        warnings.append(f"revenue {revenue:.2f} % and profit {profit:.2f} % both shrink")
    if debt is not None and DEBT_RATIO_WARN <= debt <= DEBT_RATIO_HARD_LIMIT:
        warnings.append(
            f"debt ratio {debt:.2f} % is between {DEBT_RATIO_WARN:g} % and {DEBT_RATIO_HARD_LIMIT:g} %"
        )
    if roe is None:
        warnings.append("ROE is missing")
    if debt is None:
        warnings.append("debt ratio is missing")
    code, reason = blocks[0] if blocks else (None, None)
    return Gate(bool(blocks), code, reason, tuple(warnings))


def is_special(row: Mapping[str, Any]) -> bool:
    """Whether the stock of a wide row (is_st, name) is under special treatment on the date: see `special`."""
    name = row.get("name")
    return bool(special(row.get("is_st"), name if isinstance(name, str) else None))


def gate_of(row: Mapping[str, Any]) -> Gate:
    """The gates of a wide row (`GATE_COLUMNS`)."""
    return check_gates(
        st=is_special(row),
        roe=row.get("roe"),
        debt_ratio=row.get("debt_ratio"),
        revenue_yoy=row.get("revenue_yoy"),
        profit_yoy=row.get("net_profit_yoy"),
    )


def gates_of(wide: pd.DataFrame) -> list[Gate]:
    """`gate_of` each row."""
    there = [column for column in GATE_COLUMNS if column in wide.columns]
    rows = zip(*(wide[column].tolist() for column in there), strict=True) if there else [()] * len(wide)
    return [gate_of(dict(zip(there, row, strict=True))) for row in rows]


def _known(value: float | None) -> float | None:
    if value is None or value is pd.NA:
        return None
    return None if math.isnan(value) else float(value)
