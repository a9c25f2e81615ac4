"""Means and shares of what is known."""

import numpy as np
import pandas as pd

from platform_assets.compute.nan_arithmetic import divided, floats, weighted_mean

N = np.nan


def test_a_missing_part_leaves_its_weight_to_the_others() -> None:
    parts = np.array([[10.0, N, N, N], [40.0, 40.0, N, 5.0], [70.0, 70.0, N, N]])
    mean, weight = weighted_mean(parts, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(mean, [50, 58, N, 5])
    assert weight.tolist() == [6, 5, 0, 2]


def test_what_weighs_nothing_has_no_mean() -> None:
    mean, weight = weighted_mean(np.array([[10.0], [N]]), [0.0, 1.0])
    assert np.isnan(mean[0])
    assert weight.tolist() == [0]
    assert weighted_mean(np.empty((2, 0)), [1.0, 1.0])[0].shape == (0,)


def test_a_share_of_nothing_is_not_known() -> None:
    np.testing.assert_array_equal(divided(np.array([1.0, 0, N, 2]), np.array([2.0, 0, 1, N])), [0.5, N, N, N])


def test_nulls_of_any_column_type_are_nan() -> None:
    for kind in ("Int64", "Float64", "boolean", object):
        values = pd.Series([1, None, 0], dtype=kind)
        np.testing.assert_array_equal(floats(values.astype(object) if kind is object else values), [1, N, 0])
