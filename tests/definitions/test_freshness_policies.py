"""Dagster's freshness policies follow the declarations."""

from datetime import timedelta

import pytest

from core.declaration.registry import builtin_registry
from core.declaration.rules import Freshness, calendar_days, period, trading
from platform_assets.definitions.assets import asset_key, freshness_policy
from schedules.code_location import defs


def test_every_dimension_of_the_freshness_report_has_a_policy_and_no_other_table() -> None:
    registry = builtin_registry()
    declared = {one.table for one in registry.freshness()}
    graph = defs.resolve_asset_graph()
    tables = {table.name: asset_key(table) for table in registry.tables}
    with_policy = {
        name for name, key in tables.items() if graph.has(key) and graph.get(key).freshness_policy is not None
    }

    assert len(declared) > 40
    assert with_policy == declared


@pytest.mark.parametrize(
    ("rule", "warn", "fail"),
    [
        # With no date of lag, Friday's is the newest that is needed until Monday begins, and the one before
        # the longest holiday (2020-01-23) until that has ended (2020-02-03); with one, a date longer.
        (trading(0), 3, 11),
        (trading(1), 4, 12),
        (calendar_days(7), None, 8),
        (period(45), None, 46),
    ],
)
def test_a_window_is_the_longest_time_that_the_rule_allows(
    rule: Freshness, warn: int | None, fail: int
) -> None:
    policy = freshness_policy(rule)

    assert policy.fail_window.to_timedelta() == timedelta(days=fail)
    found = policy.warn_window
    assert (None if found is None else found.to_timedelta()) == (
        None if warn is None else timedelta(days=warn)
    )
