"""pandas keeps texts as Arrow strings, since `pyarrow` is a dependency of the product. An empty column of
texts stays one of texts whatever it is mapped to, and is compared with no number."""

import pandas as pd
import pytest

from platform_assets.datasets import kline_bar


def test_texts_are_arrow_strings() -> None:
    assert pd.Series(["a"]).dtype.storage == "pyarrow"


@pytest.mark.parametrize("rule", [kline_bar.volume_rounding, kline_bar.amount_rounding])
def test_the_rounding_of_no_bars_is_no_number(rule: object) -> None:
    texts = {name: pd.Series([], dtype="str") for name in ("period", "src")}
    rows = pd.DataFrame({**texts, "volume": pd.Series([], dtype=float), "amount": pd.Series([], dtype=float)})

    assert rule(rows).empty


def test_no_bars_have_no_more_days_than_their_period() -> None:
    rows = pd.DataFrame({"period": pd.Series([], dtype="str"), "bar_count": pd.Series([], dtype=int)})

    assert kline_bar.not_more_bars_than_days(rows, None).empty
