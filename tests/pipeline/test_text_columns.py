"""pandas keeps texts in one of two ways, as `pyarrow` is there or not: the pipeline runs with both. An empty
column of texts stays one of texts whatever it is mapped to, and is compared with no number."""

import subprocess
import sys

import pandas as pd
import pytest

from platform_assets.datasets import kline_bar

BLOCKED = "import sys; sys.modules['pyarrow'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"


def test_the_tests_run_with_pyarrow() -> None:
    assert pd.Series(["a"]).dtype.storage == "pyarrow"


def test_one_run_goes_without_pyarrow() -> None:
    chosen = "tests/pipeline/test_margin.py::test_{}[sqlite]"
    names = (
        "nothing_is_asked_of_a_date_that_is_not_out",
        "the_load_of_a_day_brings_the_figures_of_the_day_before",
    )
    asked = [chosen.format(name) for name in names]

    run = subprocess.run(
        [sys.executable, "-c", BLOCKED, *asked], capture_output=True, text=True, timeout=120, check=False
    )

    assert run.returncode == 0, run.stdout[-2000:]


@pytest.mark.parametrize("rule", [kline_bar.volume_rounding, kline_bar.amount_rounding])
def test_the_rounding_of_no_bars_is_no_number(rule: object) -> None:
    texts = {name: pd.Series([], dtype="str") for name in ("period", "src")}
    rows = pd.DataFrame({**texts, "volume": pd.Series([], dtype=float), "amount": pd.Series([], dtype=float)})

    assert rule(rows).empty


def test_no_bars_have_no_more_days_than_their_period() -> None:
    rows = pd.DataFrame({"period": pd.Series([], dtype="str"), "bar_count": pd.Series([], dtype=int)})

    assert kline_bar.not_more_bars_than_days(rows, None).empty
