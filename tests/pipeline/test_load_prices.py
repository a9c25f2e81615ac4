"""The price of a load: the calls that are declared beside a source are those that its function makes."""

from collections import Counter

import pytest

from core.declaration.scope import Scope
from platform_assets.pipeline.inputs import StoredReads
from resources.fetch_record import FetchLog
from tests.pipeline.conftest import TODAY, Services

FEW = ("600040", "600041")


@pytest.mark.parametrize("name", ["kline_daily", "exright"])
@pytest.mark.parametrize("since", ["2022-01-04", "2026-08-03"])
def test_the_declared_calls_of_some_codes_are_those_of_a_load(alone: Services, name: str, since: str) -> None:
    alone.master()
    dates = tuple(alone.run.calendar.between(since, TODAY))
    scope = Scope(dates, FEW)
    context = alone.run.ctx.view(FetchLog(), read=StoredReads(alone.warehouse))
    context.securities()
    priced = [one for one in alone.registry.dataset(name).sources if one.calls is not None]
    asked: Counter[str] = Counter()
    for source in priced:
        view = context.view(FetchLog(), read=StoredReads(alone.warehouse))
        if source.calls is None or (source.only_when is not None and not source.only_when(view, scope)):
            continue
        source.fetch(view, scope)
        made = view.log.calls().get(source.name, 0)
        asked[source.name] = made
        assert made <= source.calls.number(view, scope, len(FEW)), source.name
        assert made >= len(FEW), source.name
    assert asked["tdx"]
