"""The market reads against a count of the simulated market's own quotes at the same minute, which shares no
code with the product."""

from collections import defaultdict
from typing import Any

import pytest

from simulated_market.world.model import PRICE_UNIT, Quote, Security
from tests.serving_api.live.admin_reads.conftest import FetchContext


def quotes(bench: FetchContext) -> list[tuple[Security, Quote]]:
    found = []
    for one in bench.world.securities(bench.clock.now()):
        quote = bench.world.quote(one, bench.clock.now()) if one.kind == "stock" else None
        if quote is not None:
            found.append((one, quote))
    return found


def traded(bench: FetchContext) -> list[tuple[Security, Quote, float]]:
    """With the change in percent."""
    return [
        (one, quote, (quote.price / quote.preclose - 1) * 100)
        for one, quote in quotes(bench)
        if not quote.suspended and quote.volume > 0
    ]


def test_distribution_counts_what_the_world_quotes(bench: FetchContext) -> None:
    reported = bench.api.get("/market/distribution").json()

    moved = [change for _, _, change in traded(bench)]
    assert (reported["up"], reported["down"], reported["flat"]) == (
        sum(change > 0 for change in moved),
        sum(change < 0 for change in moved),
        sum(change == 0 for change in moved),
    )
    assert reported["total"] == len(quotes(bench))
    assert reported["suspended"] == len(quotes(bench)) - len(moved)
    assert reported["limit_up"] == sum(
        quote.limit_up is not None and quote.price >= quote.limit_up for _, quote, _ in traded(bench)
    )
    assert reported["limit_down"] == sum(
        quote.limit_down is not None and quote.price <= quote.limit_down for _, quote, _ in traded(bench)
    )
    counts = {bucket["range"]: bucket["count"] for bucket in reported["buckets"]}
    assert sum(counts.values()) == len(moved)
    assert counts[">7"] == sum(round(change, 2) > 7 for change in moved)
    assert counts["-3~0"] == sum(-3 <= round(change, 2) < 0 for change in moved)
    assert reported["_source"] == "tcp_terminal"


def test_sentiment_is_the_formula_over_counts_and_indices(bench: FetchContext) -> None:
    reported = bench.api.get("/market/sentiment").json()

    changes = []
    for symbol in ("sh000001", "sz399001", "sz399006"):
        index = bench.world.find(symbol)
        assert index is not None
        quote = bench.world.quote(index, bench.clock.now())
        assert quote is not None
        changes.append((quote.price / quote.preclose - 1) * 100)
    assert [row["change_percent"] for row in reported["indices"]] == pytest.approx(changes, abs=0.006)
    moved = traded(bench)
    up, down = sum(change > 0 for *_, change in moved), sum(change < 0 for *_, change in moved)
    high = sum(q.limit_up is not None and q.price >= q.limit_up for _, q, _ in moved)
    low = sum(q.limit_down is not None and q.price <= q.limit_down for _, q, _ in moved)
    mean = sum(changes) / 3
    score = 100 * (
        0.5 * up / (up + down)
        + 0.2 * (high / (high + low) if high + low else 0.5)
        + 0.3 * min(1, max(0, (mean + 3) / 6))
    )
    assert reported["sentiment_score"] == pytest.approx(score, abs=0.1)
    assert reported["breadth"] == {
        "up": up,
        "down": down,
        "flat": len(moved) - up - down,
        "total": len(moved),
    }
    labels = [(80, "亢奋"), (60, "乐观"), (40, "中性"), (20, "谨慎"), (0, "恐慌")]
    assert reported["sentiment_label"] == next(label for least, label in labels if score >= least)


def test_industries_are_weighted_by_the_float_of_their_members(bench: FetchContext) -> None:
    reported = bench.api.get("/market/industry-rank").json()

    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for one, quote, change in traded(bench):
        _, floating = bench.world.shares(one, bench.clock.now())
        weight = floating * quote.preclose / PRICE_UNIT
        sums[one.industry][0] += weight * round(change, 2)
        sums[one.industry][1] += weight
    expected = {name: total / weight for name, (total, weight) in sums.items() if name}
    for row in (*reported["top"], *reported["bottom"]):
        assert row["change_percent"] == pytest.approx(expected[row["name"]], abs=0.011), row["name"]
    best = sorted(expected, key=lambda name: -expected[name])
    assert reported["top"][0]["name"] == best[0]
    assert reported["bottom"][0]["name"] == best[-1]
    assert [row["rank"] for row in reported["top"]] == [1, 2, 3, 4, 5]


def test_turnover_is_the_sum_of_the_session_with_that_of_the_previous(bench: FetchContext) -> None:
    reported = bench.api.get("/market/fund-flow").json()

    amounts = [quote.amount for _, quote, _ in traded(bench)]
    assert reported["total_amount"] == pytest.approx(sum(amounts), rel=1e-4)
    before = 20260820
    stored = 0.0
    for one, _ in quotes(bench):
        bars = bench.world.bars(one, bench.clock.now())
        stored += sum(
            float(amount) for day, amount in zip(bars.date, bars.amount, strict=True) if day == before
        )
    assert reported["prev_total_amount"] == pytest.approx(stored, rel=1e-9)
    assert reported["_source"] == "quote_site_a"


def test_hot_stocks_are_the_most_traded_of_the_exchange_asked_for(bench: FetchContext) -> None:
    rows = sorted(traded(bench), key=lambda row: -row[1].amount)
    everybody = bench.api.get("/realtime/hot-stocks", params={"limit": 7}).json()
    shenzhen = bench.api.get("/realtime/hot-stocks", params={"limit": 7, "market": 30}).json()

    assert [row["code"] for row in everybody["items"]] == [one.code for one, *_ in rows[:7]]
    assert [row["code"] for row in shenzhen["items"]] == [one.code for one, *_ in rows if one.market == "SZ"][
        :7
    ]
    assert [row["rank"] for row in shenzhen["items"]] == [1, 2, 3, 4, 5, 6, 7]
    assert bench.api.get("/realtime/hot-stocks", params={"market": 11}).status_code == 422


def test_the_tree_map_holds_every_stock_with_an_industry_once(bench: FetchContext) -> None:
    reported: dict[str, Any] = bench.api.get("/realtime/sector-treemap").json()

    children = [child["code"] for sector in reported["items"] for child in sector["children"]]
    assert sorted(children) == sorted(one.code for one, _ in quotes(bench) if one.industry)
    for sector in reported["items"]:
        assert sector["value"] == pytest.approx(sum(child["value"] for child in sector["children"]), abs=0.1)


def test_the_tree_map_has_as_many_stocks_of_an_industry_as_asked_for(bench: FetchContext) -> None:
    every = bench.api.get("/realtime/sector-treemap", params={"children": 1000}).json()["items"]
    largest = bench.api.get("/realtime/sector-treemap", params={"children": 1}).json()["items"]

    assert [sector["children"] for sector in largest] == [sector["children"][:1] for sector in every]
    assert any(len(sector["children"]) > 1 for sector in every)
    assert bench.api.get("/realtime/sector-treemap", params={"children": 1001}).status_code == 422


def test_the_overview_is_a_slice_of_two_other_reads(bench: FetchContext) -> None:
    overview = bench.api.get("/market/overview").json()
    ranks = bench.api.get("/market/industry-rank").json()
    counts = bench.api.get("/market/distribution").json()

    assert set(overview) == {"sectors", "limit_up", "limit_down", "timestamp"}
    assert [row["code"] for row in overview["sectors"]] == [
        *(row["code"] for row in ranks["top"]),
        *(row["code"] for row in reversed(ranks["bottom"])),
    ]
    assert overview["limit_up"] == counts["limit_up"]


def test_the_portals_flow_is_the_sum_over_both_exchanges(bench: FetchContext) -> None:
    bench.silence("tencent", "tdx")
    reported = bench.api.get("/market/fund-flow").json()

    flows = [bench.world.flows(one, bench.clock.now())[-1] for one, *_ in traded(bench) if one.market != "BJ"]
    main = sum(flow.super_large_in - flow.super_large_out + flow.large_in - flow.large_out for flow in flows)
    small = sum(flow.small_in - flow.small_out for flow in flows)
    assert reported["_source"] == "finance_portal_a"
    assert reported["main_net_inflow"] == pytest.approx(main, rel=1e-3)
    assert reported["small_net"] == pytest.approx(small, rel=1e-3)
    assert reported["super_net"] + reported["large_net"] == pytest.approx(reported["main_net_inflow"], abs=5)
