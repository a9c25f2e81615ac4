"""Money flow of a board by minute, asked of the portal."""

import pytest

from tests.serving_api.live.admin_reads.conftest import FetchContext
from tests.serving_api.market import put


def board(ctx: FetchContext) -> str:
    """A board whose members have money flow."""
    return next(one.code for one in ctx.world.boards(ctx.clock.at) if one.kind == "industry")


def test_the_flow_of_a_board_is_cumulative_and_shared(ctx: FetchContext) -> None:
    code = board(ctx)
    put(
        ctx.warehouse,
        ctx.warehouse.table("raw_concept_blocks"),
        [
            {
                "code": "600040",
                "block_code": code,
                "block_name": "白酒",
                "block_type": "industry",
                "src": "eastmoney",
            }
        ],
    )

    answer = ctx.api.get(f"/sectors/{code}/flow-minute")

    reported = answer.json()
    assert answer.status_code == 200
    assert (reported["board_code"], reported["name"], reported["_source"]) == (
        code,
        "白酒",
        "finance_portal_a",
    )
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-data-source"] == "finance_portal_a"
    times = [row["time"] for row in reported["items"]]
    assert times == sorted(times)
    assert times[0] >= "09:30"
    assert times[-1] <= "10:30"
    for row in reported["items"]:
        assert row["main_net"] == pytest.approx(row["large_net"] + row["super_net"], abs=1)
        assert row["change_pct"] is None
    before = ctx.calls("eastmoney")
    assert ctx.api.get(f"/sectors/{code}/flow-minute").json()["items"] == reported["items"]
    assert ctx.calls("eastmoney") == before


def test_an_unknown_board_and_a_silent_portal_have_no_minutes(ctx: FetchContext) -> None:
    empty = {"name": None, "items": [], "_source": None}
    assert ctx.api.get("/sectors/BK9999/flow-minute").json() == {"board_code": "BK9999", **empty}
    ctx.silence("eastmoney")
    code = board(ctx)
    assert ctx.api.get(f"/sectors/{code}/flow-minute").json() == {"board_code": code, **empty}


@pytest.mark.parametrize("code", ["600519", "BK12", "bk0475", "BK04755"])
def test_what_is_no_board_is_named(ctx: FetchContext, code: str) -> None:
    answer = ctx.api.get(f"/sectors/{code}/flow-minute")

    assert answer.status_code == 422
    assert "board_code" in answer.text
