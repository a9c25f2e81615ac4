"""Which years of the consensus are forecasts: those that no result was reported of."""

from datetime import datetime

from simulated_market import forecasts
from simulated_market.wire import View
from tests.pipeline.conftest import Services

WINTER = "2026-04-10"
"""Some companies have reported on 2025."""


def test_a_year_is_expected_until_its_result_is_reported(alone: Services) -> None:
    services = alone
    services.run.ctx.ths_eps = False
    services.clock.at = datetime.fromisoformat(f"{WINTER}T21:00")
    services.fresh()
    services.raw("aux_worth", WINTER)

    rows = services.warehouse.frame("aux_worth")
    view = View(services.world, services.clock.now())
    stocks = {one.code: one for one in services.world.securities(services.clock.now()) if one.kind == "stock"}
    first = rows.groupby("code")["forecast_year"].min()
    assert set(first) == {2025, 2026}
    for code, year in first.items():
        full = [one for one in services.world.reports(stocks[code], view.now, 3) if one.months == 12]
        assert year == full[-1].period // 10_000 + 1, code
        outlook = forecasts.outlook(view, stocks[code])
        assert outlook is not None
        known = rows[rows["code"] == code].sort_values("forecast_year")
        assert known["eps_mean"].tolist() == [one.mean for one in outlook.years]
