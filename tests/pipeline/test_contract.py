"""Contracts of answers: single rows are rejected, a source that breaks them often is refused."""

import numpy as np
import pandas as pd

from core.declaration.rules import Contract
from core.declaration.scope import Context, Scope
from platform_assets.pipeline.checks import FEW_ROWS, Checked, apply_contract


def no_nines(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["price"] < 9


def context() -> Context:
    return Context(scope=Scope(("2022-07-29",)), now="2022-07-29 15:45:00.000000", calendar=None, read=None)  # type: ignore[arg-type]


def answered(bad: int, size: int = 100) -> Checked:
    """Rows of two sources, of which `tdx` has `bad` wrong ones."""
    codes = [f"{at:06d}" for at in range(size)]
    prices = np.ones(size)
    prices[:bad] = 9.0
    tdx = pd.DataFrame({"code": codes, "price": prices, "src": "tdx"})
    other = pd.DataFrame({"code": codes, "price": np.ones(size), "src": "tencent"})
    return Checked(frame=pd.concat([tdx, other], ignore_index=True))


def test_a_single_row_is_rejected_and_recorded_and_the_rest_stays() -> None:
    checked = apply_contract(
        answered(1), [Contract(no_nines, "nine is too much")], ("code", "src"), context()
    )

    assert len(checked.frame) == 199
    assert (checked.rejected, checked.counts) == (1, {"no_nines": 1})
    row = next(item for item in checked.quality if item.natural_key)
    assert (row.severity, row.action, row.code, row.sources) == ("contract", "rejected", "000000", ["tdx"])


def test_more_than_a_few_rows_cost_the_source_everything() -> None:
    checked = apply_contract(
        answered(FEW_ROWS + 1), [Contract(no_nines, "nine is too much")], ("code", "src"), context()
    )

    assert set(checked.frame["src"]) == {"tencent"}
    assert checked.rejected == 100


def test_no_broken_contract_records_nothing() -> None:
    checked = apply_contract(answered(0), [Contract(no_nines)], ("code", "src"), context())

    assert (len(checked.frame), checked.rejected, checked.quality) == (200, 0, [])
    assert checked.counts == {"no_nines": 0}
