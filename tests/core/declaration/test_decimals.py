"""A calculated figure is stored with a stated number of decimals, a source's as it was received."""

import pandas as pd

from core.declaration.columns import Code, F, Model, Pct, col, columns_from, key, model_columns, received
from core.declaration.frames import coerce
from core.declaration.registry import builtin_registry

FULL = {"fusion_kline_daily.adj_factor"}
"""Prices of decades are multiplied by them; a rounded one would move the adjusted prices."""
OF_SOURCES = {"macro_indicator", "macro_release"}
"""Their computed columns repeat or subtract figures of a source, each with decimals of its own."""


class Figures(Model):
    """Columns of each kind."""

    code: Code = key()
    reported: F = col("", "as received")
    score: F = col("", "calculated", decimals=4)
    share: Pct = col("pct", "its type has four")


def test_a_declared_number_of_decimals_is_what_is_stored() -> None:
    row = {"code": "600000", "reported": 2 / 3, "score": 200 / 3, "share": 2 / 3}
    frame, lost = coerce(pd.DataFrame([row]), model_columns(Figures))
    assert frame.iloc[0].to_dict() == {**row, "score": 66.6667, "share": 0.6667}
    assert not lost


def test_the_model_of_what_is_received_rounds_alike() -> None:
    specs = {spec.name: spec for spec in model_columns(received(Figures))}
    assert (specs["reported"].scale, specs["score"].scale, specs["share"].scale) == (None, 4, 4)


def test_a_column_of_the_notation_has_the_decimals_of_its_type() -> None:
    assert [spec.scale for spec in columns_from("a:px:CNY b:f")] == [4, None]


def test_no_calculated_figure_is_stored_with_the_noise_of_floats() -> None:
    noisy = {
        f"{dataset.table_name}.{spec.name}"
        for name, dataset in builtin_registry().datasets.items()
        for spec in (model_columns(dataset.model) if dataset.model is not None else ())
        if name not in OF_SOURCES and (spec.computed or dataset.calculate)
        if spec.family == "float" and spec.scale is None
    }
    assert noisy == FULL
