"""Ragged bars: order, suspended days, cuts."""

import numpy as np
import pandas as pd

from core.market.bars import Bars


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "code": ["600000", "000001", "000001", "000001", "600000"],
            "date": ["2026-01-06", "2026-01-07", "2026-01-05", "2026-01-06", "2026-01-05"],
            "open": [10.0, 3.0, 1.0, 2.0, 9.0],
            "high": [11.0, 3.5, 1.5, 2.0, 9.5],
            "low": [9.0, 2.5, 0.5, 2.0, 8.5],
            "close": [10.5, 3.2, 1.2, 2.0, 9.2],
            "volume": [100, 300, 100, 0, 50],
            "adj_factor": [2.0, 1.5, 1.0, 1.0, 1.0],
            "is_suspended": [False, False, False, True, False],
        }
    )


def test_rows_are_by_code_and_date_and_suspended_days_have_none() -> None:
    bars = Bars.from_frame(frame())
    assert bars.codes == ("000001", "600000")
    assert bars.offsets.tolist() == [0, 2, 4]
    assert bars.date.tolist() == [20260105, 20260107, 20260105, 20260106]
    assert bars.close[bars.rows_of("000001")].tolist() == [1.2, 3.2]
    assert np.isnan(bars.amount).all()


def test_order_of_the_input_does_not_matter() -> None:
    one, other = Bars.from_frame(frame()), Bars.from_frame(frame().sample(frac=1, random_state=7))
    assert one.codes == other.codes
    assert one.close.tolist() == other.close.tolist()


def test_prices_are_adjusted_by_the_factor() -> None:
    assert Bars.from_frame(frame()).adjusted("close").tolist() == [1.2, 3.2 * 1.5, 9.2, 21.0]


def test_a_cut_at_a_day_leaves_out_codes_that_were_not_there() -> None:
    rows = frame().iloc[[0, 1, 2]]
    bars = Bars.from_frame(rows).until(20260105)
    assert bars.codes == ("000001",)
    assert bars.offsets.tolist() == [0, 1]


def test_the_newest_bars_of_each_code() -> None:
    bars = Bars.from_frame(frame()).newest(1)
    assert bars.date.tolist() == [20260107, 20260106]
    assert bars.last_rows.tolist() == [0, 1]


def test_some_codes() -> None:
    bars = Bars.from_frame(frame()).take(["600000", "999999"])
    assert bars.codes == ("600000",)
    assert len(bars) == 2


def test_no_rows_at_all() -> None:
    bars = Bars.from_frame(frame().iloc[:0])
    assert bars.codes == ()
    assert bars.offsets.tolist() == [0]
    assert len(bars.until(20260105)) == 0
