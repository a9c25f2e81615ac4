"""What the difference between a frame and the stored rows says."""

import pandas as pd

from core.declaration.columns import columns_from
from core.declaration.frames import coerce, rows
from core.declaration.tables import Layer, Table
from resources.warehouse.change_plan import Plan

NOW = "2026-08-21 15:45:00.000000"
SPANS = Table(
    "ref_spans", Layer.REF, columns_from("code:code valid_from:date name:s64"), ("code", "valid_from")
)


def test_a_valid_from_of_the_tables_own_is_content_and_stays() -> None:
    frame = pd.DataFrame({"code": ["600001"], "valid_from": ["2026-08-21"], "name": ["甲"]})

    plan = Plan.make(
        table=SPANS,
        incoming=rows(coerce(frame, SPANS.all_columns)[0], SPANS.names),
        stored=[],
        batch_id="b",
        now=NOW,
        public_at=None,
        source_rank={},
        replace=False,
        provenance=None,
    )

    assert plan.written == [("600001", "2026-08-21", "甲", "b", NOW, NOW)]
