"""What failed is counted row by row and recorded with its own partition."""

import pandas as pd

from core.calendar import shipped_calendar
from core.declaration.columns import Amt, Code, Date, Model, col, key
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from platform_assets.pipeline.checks import apply_hard, coerce_model
from platform_assets.pipeline.slices import assign_quality, partition_parts
from platform_assets.pipeline.windows import Window


class Row(Model):
    """A row that can fail two checks at once."""

    code: Code = key("code")
    date: Date = key("date")
    low: Amt = col("CNY", "low", nullable=False, ge=0, le=5)
    high: Amt = col("CNY", "high", nullable=False, ge=0, le=5)


def test_rejections_count_rows_not_checks_and_stay_with_their_date() -> None:
    days = ("2026-08-20", "2026-08-21")
    frame = pd.DataFrame(
        [
            {"code": f"{i:06d}", "date": day, "low": 1.0, "high": 2.0, "src": "tdx"}
            for day in days
            for i in range(400)
        ]
    )
    frame.loc[:299, ["low", "high"]] = 9.0  # 300 rows of the first date break both limits
    frame.loc[400, "low"] = -1.0
    clean, destroyed = coerce_model(frame, Row, ["src"])

    checked = apply_hard(clean, Row, ("code", "date", "src"), destroyed)
    window = Window(Partition.TRADE_DATE, "date", Scope(days), shipped_calendar())
    parts = list(partition_parts(window, checked.frame))
    assign_quality(parts, checked, window)

    first, second = parts
    assert (len(first.frame), first.rejected) == (100, 300)
    assert (len(second.frame), second.rejected) == (399, 1)
    summaries = {item.check: item.failed_count for item in first.quality if item.natural_key is None}
    assert summaries == {"low:less_than_or_equal_to": 300, "high:less_than_or_equal_to": 300}
    assert sum(item.natural_key is not None for item in first.quality) == 400  # 200 of each check
    assert [item.code for item in second.quality if item.natural_key] == ["000000"]
    assert second.checks["low:greater_than_or_equal_to"] == 1
    assert second.checks["high:less_than_or_equal_to"] == 0
