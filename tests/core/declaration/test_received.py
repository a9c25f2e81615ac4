"""The RAW model that follows from a fused one."""

import pandas as pd

from core.declaration.columns import Amt, Code, Date, Model, Pct, col, key, model_columns, received
from platform_assets.pipeline.checks import apply_hard, coerce_model


class Flow(Model):
    """One stock on one date."""

    code: Code = key("security code", str_matches=r"^[0-9]{6}$")
    date: Date = key("trade date")
    amount: Amt = col("CNY", "turnover", nullable=False, ge=0)
    share_pct: Pct = col("pct", "share", computed=True)
    net: Amt = col("CNY", "net", no_source="later")


def test_it_has_the_delivered_columns_in_their_order_with_src_behind_the_key() -> None:
    columns = {spec.name: spec for spec in model_columns(received(Flow))}

    assert list(columns) == ["code", "date", "src", "amount", "net"]
    assert [name for name, spec in columns.items() if not spec.nullable] == ["code", "date", "src"]
    assert (columns["amount"].sql, columns["amount"].unit, columns["amount"].title) == (
        "amt",
        "CNY",
        "turnover",
    )
    assert columns["net"].no_source == "later"


def test_limits_hold_on_both_and_the_fused_model_is_untouched() -> None:
    model = received(Flow)
    rows = pd.DataFrame(
        {
            "code": ["600001", "x", "600002"],
            "date": "2026-08-21",
            "src": "tencent",
            "amount": [1.0, 2.0, -3.0],
        }
    )
    clean, destroyed = coerce_model(rows, model, ["src"])

    checked = apply_hard(clean, model, ("code", "date", "src"), destroyed)

    assert checked.frame["code"].tolist() == ["600001"]
    assert checked.rejected == 2
    assert [spec.name for spec in model_columns(Flow) if not spec.nullable] == ["code", "date", "amount"]
