"""Quick valuation: recomputed here from the rules of docs/calculations/quick-valuation.md, by other means."""

import random
import time
from decimal import Decimal

import pytest

from platform_assets.compute.quick_valuation import Figures, methods, verdict
from tests.serving_api.chat import rows
from tests.serving_api.chat.served import Served


def present(base: float, growth: float, rate: float) -> float:
    """Each year's cash by itself, in decimals: growth of year n is g - (g - 2) (n - 1) / 5."""
    cash, flows = Decimal(str(base)), []
    for year in range(1, 6):
        percent = Decimal(str(growth)) - (Decimal(str(growth)) - 2) * (year - 1) / 5
        cash *= 1 + percent / 100
        flows.append(cash)
    flows[-1] += flows[-1] * Decimal("1.02") / (Decimal(str(rate)) / 100 - Decimal("0.02"))
    return float(sum(flow / (1 + Decimal(str(rate)) / 100) ** (at + 1) for at, flow in enumerate(flows)))


@pytest.mark.parametrize("seed", range(50))
def test_every_method_is_what_its_rule_says(seed: int) -> None:
    draw = random.Random(seed)
    eps, bvps = draw.uniform(0.2, 60), draw.uniform(1, 200)
    band, pb = sorted(draw.uniform(5, 60) for _ in range(2)), draw.uniform(0.5, 9)
    first = eps * draw.uniform(0.9, 1.1)
    second = first * draw.uniform(1.06, 1.6)
    cash, shares, bond = draw.uniform(1e7, 1e10), draw.uniform(1e8, 1e10), draw.uniform(1.5, 3.5)
    found = {one.key: one.values for one in methods(Figures(
        price=10.0, eps=eps, bvps=bvps, pe_band=(band[0], band[1]), industry="食品饮料", industry_pe=20.0,
        industry_pb=pb, eps_next=(first, second), profit_growth=-3.0, cash_flow=cash, shares=shares,
        bond=bond,
    ))}  # fmt: skip
    growth = (second - first) / first * 100
    paid, grown = min(40.0, growth), min(15.0, growth)
    assert found["pe"] == pytest.approx((eps * band[0], eps * sum(band) / 2, eps * band[1]))
    assert found["pb"] == pytest.approx((bvps * pb * 0.8, bvps * pb, bvps * pb * 1.2))
    assert found["peg"] == pytest.approx((eps * paid * 0.8, eps * paid, eps * paid * 1.2))
    assert found["dcf_lite"] == pytest.approx(
        tuple(present(cash / shares, grown, bond + premium) for premium in (7, 6, 5))
    )


def test_what_is_missing_gives_no_value() -> None:
    found = {one.key: one for one in methods(Figures(price=10.0, eps=-1.0, industry="银行"))}
    assert all(one.values is None and one.note for one in found.values())
    assert verdict(10.0, list(found.values())) == "无法判断"
    bank = Figures(eps=1.0, profit_growth=20.0, cash_flow=1e9, shares=1e9, bond=2.0, industry="银行")
    assert [one.values is None for one in methods(bank)[2:]] == [True, True]
    slow = methods(Figures(eps=1.0, profit_growth=4.9))
    assert slow[2].values is None


@pytest.mark.parametrize(("price", "said"), [(100.0, "低估"), (1400.0, "合理"), (9999.0, "高估")])
def test_the_verdict_is_that_of_most_methods(price: float, said: str) -> None:
    found = methods(Figures(eps=66.53, bvps=197.6, industry_pe=20.66, industry_pb=7.0))
    assert verdict(price, found) == said


def test_the_route_answers_from_stored_figures_in_time(plain: Served) -> None:
    began = time.monotonic()
    body = {"code": "600519"}
    reported = plain.http.post("/chat/quick-valuation", json=body, headers=plain.admin()).json()
    assert time.monotonic() - began < 30
    assert reported["elapsed_s"] < 30
    own = rows.FIGURES["600519"]
    by_key = {one["key"]: one for one in reported["methods"]}
    # No band is stored: the industry's PE of 20.66, and a fifth around it.
    assert by_key["pe"]["mid"] == round(own["eps"] * 20.66, 2)
    assert by_key["pe"]["low"] == round(own["eps"] * 20.66 * 0.8, 2)
    assert by_key["pb"]["high"] == round(own["bvps"] * 4.43 * 1.2, 2)
    growth = (1.15 / 1.08 - 1) * 100
    assert by_key["peg"]["mid"] == pytest.approx(own["eps"] * growth, abs=0.01)
    assert by_key["dcf_lite"]["mid"] is None
    assert by_key["dcf_lite"]["note"]
    assert (reported["price"], reported["provenance"]) == (own["price"], "quant_prefill")
    used = {one["field"]: one["value"] for one in reported["evidence"]}
    assert (used["eps_ttm"], used["pe_weighted"]) == (own["eps"], 20.66)
    missing = plain.http.post("/chat/quick-valuation", json={"code": "999999"}, headers=plain.admin())
    assert missing.status_code == 404
