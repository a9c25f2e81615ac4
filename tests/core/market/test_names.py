"""What is known of a stock's state from its name."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.market.names import special
from platform_assets.compute.factors.gates import gate_of


@pytest.mark.parametrize("unknown", [None, np.nan, pd.NA])
def test_special_treatment_is_that_of_the_history_and_else_of_the_name(unknown: Any) -> None:
    assert special(True, "甲") is special(1.0, None) is True
    assert special(False, "*ST甲") is special(0, "ST甲") is False
    assert special(unknown, "*ST甲") is True
    assert special(unknown, "甲") is False
    assert special(unknown, None) is special(unknown, "") is None
    assert gate_of({"is_st": unknown, "name": "S*ST甲"}).code == "st"
    assert gate_of({"is_st": unknown, "name": None}).passed
