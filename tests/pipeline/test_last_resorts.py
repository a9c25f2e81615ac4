"""Sources that are asked when those before them are away."""

from typing import Any

import pandas as pd
import pytest

from platform_assets.pipeline.on_demand import download
from tests.pipeline.conftest import TODAY, Services

BANK = "600040"


@pytest.fixture
def services(alone: Services) -> Services:
    """The rows of a source are the same on both engines."""
    return alone


def away(services: Services, *calls: tuple[str, str]) -> None:
    """These calls are answered with a refusal, those of the terminal with nothing."""
    rules: list[dict[str, Any]] = [
        {"upstream": upstream, "call": call}
        | ({"kind": "reset"} if upstream == "tdx" else {"kind": "status", "args": {"code": 403}})
        for upstream, call in calls
    ]
    services.faults.replace(rules)


def one_code(services: Services, kind: str, table: str) -> pd.DataFrame:
    reported = download(services.run, [BANK], [kind], TODAY)
    assert reported["types"][kind]["status"] == "success", reported["types"][kind]
    rows = services.warehouse.frame(table)
    return rows[rows["code"] == BANK]


@pytest.mark.parametrize("last", ["ths", "sina"])
def test_bars_of_a_code_from_the_topic_portal_and_the_second_site(services: Services, last: str) -> None:
    truth = one_code(services, "kline", "raw_kline").set_index("date")
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_kline")
    services.fresh()
    calls = [("tdx", "bars_day"), ("tencent", "bars"), ("eastmoney", "kline")]
    away(services, *calls, *([("ths", "bars")] if last == "sina" else []))
    rows = one_code(services, "kline", "raw_kline").set_index("date")

    assert set(rows["src"]) == {last}
    prices = ["open", "high", "low", "close", "volume"]
    assert rows[prices].equals(truth.loc[rows.index, prices])
    assert len(rows) == min(len(truth), 1800 if last == "ths" else 1023)
    assert rows["amount"].notna().all() == (last == "ths")


INDEX_CALLS = {
    "tencent": ["quotes", "bars"],
    "eastmoney": ["kline"],
    "tdx": ["index_bars_day"],
    "sina": ["quotes"],
}


@pytest.mark.parametrize("last", ["eastmoney", "csindex"])
def test_bars_of_indices_from_the_portal_and_the_provider(services: Services, last: str) -> None:
    """A coarser answer keeps the values of a finer one; a finer one replaces those of a coarser one."""
    names = ["open", "high", "low", "close", "last_close", "volume", "amount"]

    def bars() -> pd.DataFrame:
        rows = services.warehouse.frame("fusion_index_daily")
        assert (rows["quality"] == "ok").all()
        return rows.set_index(["code", "date"]).sort_index()

    dates = services.run.calendar.last(3, TODAY)
    services.fuse("index_daily", *dates[1:])
    truth = bars()
    down = {name: calls for name, calls in INDEX_CALLS.items() if last == "csindex" or name == "tencent"}
    services.faults.replace(
        [
            {"upstream": name, "call": call, "kind": "reset" if name == "tdx" else "garbage"}
            for name, calls in down.items()
            for call in calls
        ]
    )
    services.fresh()
    again = services.fuse("index_daily", *dates[1:])
    assert [result.rows_written for result in again.results] == [0, 0]
    assert [item["src"] for item in again.sources if item.get("rows")] == [last]

    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM fusion_index_daily")
    services.fresh()
    services.fuse("index_daily", *dates[1:])
    rows = bars()
    assert set(rows["src"]) == {last}
    reported = truth.loc[rows.index]
    shown = set(truth.index.get_level_values("code"))
    assert set(rows.index.get_level_values("code")) == {
        code for code in shown if last == "eastmoney" or code.startswith("sh")
    }
    assert rows[names[:5]].equals(reported[names[:5]])
    steps = (100, 100) if last == "eastmoney" else (1e4, 1e6)
    for name, step in zip(names[5:], steps, strict=True):
        assert (rows[name] - reported[name]).abs().max() <= step / 2

    services.faults.clear()
    services.fresh()
    back = services.fuse("index_daily", *dates[1:])
    if last == "csindex":
        assert bars()[names].equals(truth[names])
    else:  # its amounts are the finer ones
        assert [result.rows_written for result in back.results] == [0, 0]


def test_minute_bars_of_a_code_from_the_second_site(services: Services) -> None:
    away(services, ("tdx", "bars_*"), ("tencent", "minute_bars"), ("eastmoney", "kline"))
    bars = one_code(services, "minute_kline", "raw_minute_kline")
    assert set(bars["src"]) == {"sina"}
    assert set(bars["period"]) == {"5m", "15m", "30m", "60m"}
    assert bars["amount"].isna().all()


def test_money_flow_of_a_code_from_the_second_site(services: Services) -> None:
    # Damaged answers, not refusals: the simulated hosts are one host, which would cool down as a whole.
    calls = (("eastmoney", "clist"), ("eastmoney", "fflow_day"), ("tencent", "fund_flow"))
    services.faults.replace([{"upstream": one, "call": call, "kind": "truncate"} for one, call in calls])
    flow = one_code(services, "fund_flow", "raw_fund_flow")
    assert set(flow["src"]) == {"sina"}
    assert (flow["main_net"] - flow["super_net"] - flow["large_net"]).abs().max() < 0.02
    services.stage("fund_flow")
    services.fuse("fund_flow")
    fused = services.warehouse.frame("fusion_fund_flow")
    # This site's four nets do not cancel, which is no warning.
    assert not fused["quality_flags"].fillna("").str.contains("nets_cancel").any()


def test_whom_most_users_of_the_social_site_follow(services: Services) -> None:
    loaded = services.raw("raw_hot_stocks")

    rows = services.warehouse.frame("raw_hot_stocks")
    assert loaded.calls["xueqiu"] >= 1
    mine = rows[rows["list_type"] == "xq_follow"].sort_values("rank_no")
    assert mine["rank_no"].tolist() == list(range(1, len(mine) + 1))
    assert mine["heat"].is_monotonic_decreasing
    assert set(mine["src"]) == {"xueqiu"}


def test_boards_and_blocks_stand_in_for_each_other(services: Services) -> None:
    services.faults.replace([{"upstream": "eastmoney", "call": "clist", "kind": "double_rows"}])
    services.raw("raw_concept_blocks")
    services.raw("raw_block_member")
    rows, known = (services.warehouse.frame(name) for name in ("raw_concept_blocks", "raw_block_member"))
    assert (set(rows["src"]), set(rows["block_type"])) == ({"tdx"}, {"concept", "industry"})
    assert set(known["src"]) == {"tdx"}
    gn = known[(known["block_type"] == "gn") & known["code"].isin(rows["code"])]
    concepts = rows[rows["block_type"] == "concept"]
    assert set(zip(concepts["code"], concepts["block_code"], strict=True)) == set(
        zip(gn["code"], gn["block_code"], strict=True)
    )

    services.faults.clear()
    services.fresh()
    services.raw("raw_concept_blocks")
    services.fresh()
    away(services, ("tdx", "file_*"))
    services.raw("raw_block_member")
    boards, blocks = (services.warehouse.frame(name) for name in ("raw_concept_blocks", "raw_block_member"))
    assert set(boards["src"]) == {"eastmoney"}  # the rows of the fallback are gone
    reported = blocks[blocks["src"] == "eastmoney"]
    assert set(reported["block_type"]) == {"gn", "hy"}
    assert set(blocks[blocks["src"] == "tdx"]["block_type"]) == {"zs", "fg"}  # the portal has none of these
    concepts = boards[boards["block_type"] == "concept"]
    gn = reported[reported["block_type"] == "gn"]
    assert set(zip(gn["code"], gn["block_code"], strict=True)) == set(
        zip(concepts["code"], concepts["block_code"], strict=True)
    )
    assert (gn.groupby("block_code").size() == gn.groupby("block_code")["member_count"].first()).all()
    assert reported["name"].notna().all()


@pytest.mark.parametrize("last", ["sina", "tdx"])
def test_statements_of_a_code_from_the_second_site_and_the_terminal(services: Services, last: str) -> None:
    truth = one_code(services, "finstmt", "raw_finstmt").set_index(["report_period", "item"])["value"]
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_finstmt")
    services.fresh()
    rules = [{"upstream": "eastmoney", "call": "*", "kind": "truncate"}]
    if last == "tdx":
        rules.append({"upstream": "sina", "call": "statement", "kind": "truncate"})
    services.faults.replace(rules)
    rows = one_code(services, "finstmt", "raw_finstmt").set_index(["report_period", "item"])

    assert set(rows["src"]) == {last}
    assert {"revenue", "net_profit", "total_assets", "operating_cash_flow"} <= set(
        rows.index.get_level_values(1)
    )
    assert (rows.index.get_level_values(0).nunique() > 4) == (last == "sina")
    both = rows["value"].index.intersection(truth.index)
    assert len(both) >= 4
    # The terminal has seven digits.
    assert (rows.loc[both, "value"] / truth[both]).tolist() == pytest.approx([1.0] * len(both), rel=1e-6)
