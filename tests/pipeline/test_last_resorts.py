"""Sources that are asked when those before them are away."""

from typing import Any

import pandas as pd
import pytest

from platform_assets.pipeline.on_demand import download
from tests.pipeline.conftest import TODAY, House

BANK = "600040"


@pytest.fixture
def house(alone: House) -> House:
    """What a source tells is the same on both engines."""
    return alone


def away(house: House, *calls: tuple[str, str]) -> None:
    """These calls are answered with a refusal, those of the terminal with nothing."""
    rules: list[dict[str, Any]] = [
        {"upstream": upstream, "call": call}
        | ({"kind": "reset"} if upstream == "tdx" else {"kind": "status", "args": {"code": 403}})
        for upstream, call in calls
    ]
    house.faults.replace(rules)


def one_code(house: House, kind: str, table: str) -> pd.DataFrame:
    told = download(house.run, [BANK], [kind], TODAY)
    assert told["types"][kind]["status"] == "success", told["types"][kind]
    rows = house.warehouse.frame(table)
    return rows[rows["code"] == BANK]


@pytest.mark.parametrize("last", ["ths", "sina"])
def test_bars_of_a_code_from_the_topic_portal_and_the_second_site(house: House, last: str) -> None:
    truth = one_code(house, "kline", "raw_kline").set_index("date")
    with house.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_kline")
    house.fresh()
    calls = [("tdx", "bars_day"), ("tencent", "bars"), ("eastmoney", "kline")]
    away(house, *calls, *([("ths", "bars")] if last == "sina" else []))
    rows = one_code(house, "kline", "raw_kline").set_index("date")

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
def test_bars_of_indices_from_the_portal_and_the_provider(house: House, last: str) -> None:
    """A coarser answer leaves what a finer one told; a finer one replaces what a coarser one told."""
    names = ["open", "high", "low", "close", "last_close", "volume", "amount"]

    def bars() -> pd.DataFrame:
        rows = house.warehouse.frame("fusion_index_daily")
        assert (rows["quality"] == "ok").all()
        return rows.set_index(["code", "date"]).sort_index()

    dates = house.run.calendar.last(3, TODAY)
    house.fuse("index_daily", *dates[1:])
    truth = bars()
    down = {name: calls for name, calls in INDEX_CALLS.items() if last == "csindex" or name == "tencent"}
    house.faults.replace(
        [
            {"upstream": name, "call": call, "kind": "reset" if name == "tdx" else "garbage"}
            for name, calls in down.items()
            for call in calls
        ]
    )
    house.fresh()
    again = house.fuse("index_daily", *dates[1:])
    assert [result.rows_written for result in again.results] == [0, 0]
    assert [item["src"] for item in again.sources if item.get("rows")] == [last]

    with house.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM fusion_index_daily")
    house.fresh()
    house.fuse("index_daily", *dates[1:])
    rows = bars()
    assert set(rows["src"]) == {last}
    told = truth.loc[rows.index]
    shown = set(truth.index.get_level_values("code"))
    assert set(rows.index.get_level_values("code")) == {
        code for code in shown if last == "eastmoney" or code.startswith("sh")
    }
    assert rows[names[:5]].equals(told[names[:5]])
    steps = (100, 100) if last == "eastmoney" else (1e4, 1e6)
    for name, step in zip(names[5:], steps, strict=True):
        assert (rows[name] - told[name]).abs().max() <= step / 2

    house.faults.clear()
    house.fresh()
    back = house.fuse("index_daily", *dates[1:])
    if last == "csindex":
        assert bars()[names].equals(truth[names])
    else:  # its amounts are the finer ones
        assert [result.rows_written for result in back.results] == [0, 0]


def test_minute_bars_of_a_code_from_the_second_site(house: House) -> None:
    away(house, ("tdx", "bars_*"), ("tencent", "minute_bars"), ("eastmoney", "kline"))
    bars = one_code(house, "minute_kline", "raw_minute_kline")
    assert set(bars["src"]) == {"sina"}
    assert set(bars["period"]) == {"5m", "15m", "30m", "60m"}
    assert bars["amount"].isna().all()


def test_money_flow_of_a_code_from_the_second_site(house: House) -> None:
    # Damaged answers, not refusals: the simulated hosts are one host, which would cool down as a whole.
    calls = (("eastmoney", "clist"), ("eastmoney", "fflow_day"), ("tencent", "fund_flow"))
    house.faults.replace([{"upstream": one, "call": call, "kind": "truncate"} for one, call in calls])
    flow = one_code(house, "fund_flow", "raw_fund_flow")
    assert set(flow["src"]) == {"sina"}
    assert (flow["main_net"] - flow["super_net"] - flow["large_net"]).abs().max() < 0.02
    house.stage("fund_flow")
    house.fuse("fund_flow")
    fused = house.warehouse.frame("fusion_fund_flow")
    # This site's four nets do not cancel, which is no warning.
    assert not fused["quality_flags"].fillna("").str.contains("nets_cancel").any()


def test_whom_most_users_of_the_social_site_follow(house: House) -> None:
    loaded = house.raw("raw_hot_stocks")

    rows = house.warehouse.frame("raw_hot_stocks")
    assert loaded.calls["xueqiu"] >= 1
    mine = rows[rows["list_type"] == "xq_follow"].sort_values("rank_no")
    assert mine["rank_no"].tolist() == list(range(1, len(mine) + 1))
    assert mine["heat"].is_monotonic_decreasing
    assert set(mine["src"]) == {"xueqiu"}


def test_boards_and_blocks_stand_in_for_each_other(house: House) -> None:
    house.faults.replace([{"upstream": "eastmoney", "call": "clist", "kind": "double_rows"}])
    house.raw("raw_concept_blocks")
    house.raw("raw_block_member")
    rows, known = (house.warehouse.frame(name) for name in ("raw_concept_blocks", "raw_block_member"))
    assert (set(rows["src"]), set(rows["block_type"])) == ({"tdx"}, {"concept", "industry"})
    assert set(known["src"]) == {"tdx"}
    gn = known[(known["block_type"] == "gn") & known["code"].isin(rows["code"])]
    concepts = rows[rows["block_type"] == "concept"]
    assert set(zip(concepts["code"], concepts["block_code"], strict=True)) == set(
        zip(gn["code"], gn["block_code"], strict=True)
    )

    house.faults.clear()
    house.fresh()
    house.raw("raw_concept_blocks")
    house.fresh()
    away(house, ("tdx", "file_*"))
    house.raw("raw_block_member")
    boards, blocks = (house.warehouse.frame(name) for name in ("raw_concept_blocks", "raw_block_member"))
    assert set(boards["src"]) == {"eastmoney"}  # whoever stood in is gone
    told = blocks[blocks["src"] == "eastmoney"]
    assert set(told["block_type"]) == {"gn", "hy"}
    assert set(blocks[blocks["src"] == "tdx"]["block_type"]) == {"zs", "fg"}  # the portal has none of these
    concepts = boards[boards["block_type"] == "concept"]
    gn = told[told["block_type"] == "gn"]
    assert set(zip(gn["code"], gn["block_code"], strict=True)) == set(
        zip(concepts["code"], concepts["block_code"], strict=True)
    )
    assert (gn.groupby("block_code").size() == gn.groupby("block_code")["member_count"].first()).all()
    assert told["name"].notna().all()


@pytest.mark.parametrize("last", ["sina", "tdx"])
def test_statements_of_a_code_from_the_second_site_and_the_terminal(house: House, last: str) -> None:
    truth = one_code(house, "finstmt", "raw_finstmt").set_index(["report_period", "item"])["value"]
    with house.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM raw_finstmt")
    house.fresh()
    rules = [{"upstream": "eastmoney", "call": "*", "kind": "truncate"}]
    if last == "tdx":
        rules.append({"upstream": "sina", "call": "statement", "kind": "truncate"})
    house.faults.replace(rules)
    rows = one_code(house, "finstmt", "raw_finstmt").set_index(["report_period", "item"])

    assert set(rows["src"]) == {last}
    assert {"revenue", "net_profit", "total_assets", "operating_cash_flow"} <= set(
        rows.index.get_level_values(1)
    )
    assert (rows.index.get_level_values(0).nunique() > 4) == (last == "sina")
    both = rows["value"].index.intersection(truth.index)
    assert len(both) >= 4
    # The terminal tells seven digits.
    assert (rows.loc[both, "value"] / truth[both]).tolist() == pytest.approx([1.0] * len(both), rel=1e-6)
