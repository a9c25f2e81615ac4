"""Tables of the market as a whole: stock connect, totals of the exchanges, and their downloads on request."""

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime

import pytest

from core.errors import ConflictError, InputError
from platform_assets.pipeline.market_download import download_market
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.pipeline.conftest import Services, opened_services

DAYS = ("2026-08-19", "2026-08-20")
TODAY = "2026-08-21"


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def services(request, tmp_path_factory, sample_world) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("market")
    for url in engine_url(request.param, folder):
        with opened_services(url, folder, sample_world) as opened:
            opened.master()
            yield opened


@pytest.fixture(autouse=True)
def _calm(services: Services) -> None:
    services.faults.clear()
    services.clock.at = datetime.fromisoformat(f"{TODAY}T18:10")
    services.fresh()


def rows(services: Services, table: str, day: str | None = None):
    found = services.warehouse.frame(table, columns=services.warehouse.table(table).names)
    return found if day is None else found[found["trade_date"] == day].reset_index(drop=True)


def away(upstream: str) -> dict[str, object]:
    """An upstream that answers with a refusal after which it is asked again at once."""
    return {"upstream": upstream, "call": "*", "kind": "status", "args": {"code": 400}}


def test_hong_kong_tells_the_turnover_and_nobody_what_was_bought(services: Services) -> None:
    loaded = services.raw("raw_northbound", *DAYS)

    found = rows(services, "raw_northbound").set_index(["trade_date", "channel"])
    assert loaded.calls == {"hkex": 2}
    assert set(found["src"]) == {"hkex"}
    day = found.loc[DAYS[0]]
    assert set(day.index) == {"hgt", "sgt", "north", "ggt_sh", "ggt_sz"}
    north = day.loc[["hgt", "sgt", "north"]]
    assert north[["net_buy", "buy_amt", "sell_amt", "quota_balance"]].isna().all().all()
    assert (north[["deal_amt", "trade_count"]] > 0).all().all()
    assert day.loc["north", "deal_amt"] == pytest.approx(day.loc[["hgt", "sgt"], "deal_amt"].sum())
    assert day.loc[["ggt_sh", "ggt_sz"], "net_buy"].notna().all()


def test_the_portal_stands_in_and_never_over_a_stored_row_of_hong_kong(services: Services) -> None:
    services.raw("raw_northbound", DAYS[1])
    before = rows(services, "raw_northbound", DAYS[1])
    services.faults.replace([away("hkex")])
    loaded = services.raw("raw_northbound", "2026-08-18", *DAYS)

    assert [item["src"] for item in loaded.sources] == ["hkex", "eastmoney"]
    reported = rows(services, "raw_northbound", "2026-08-18").set_index("channel")
    assert set(reported["src"]) == {"eastmoney"}
    assert reported.loc["north", ["net_buy", "quota_balance"]].isna().all()
    assert reported.loc["ggt_sh", "net_buy"] == reported.loc["ggt_sh", "net_buy"]
    assert rows(services, "raw_northbound", DAYS[1]).equals(before)


def test_both_agree(services: Services) -> None:
    official = services.run.ctx.hkex.connect_day(DAYS[0]).set_index("channel")
    portal = services.run.ctx.eastmoney.connect_days(DAYS[0], DAYS[0]).set_index("channel")
    for column in ("deal_amt", "trade_count", "net_buy"):
        assert portal[column].reindex(official.index).equals(official[column]), column


def test_the_exchanges_own_figures_stand_and_beijing_is_summed_up(services: Services) -> None:
    loaded = services.raw("exchange_overview", TODAY)

    found = rows(services, "exchange_overview", TODAY).set_index(["exchange", "sec_class"])
    assert loaded.calls == {"sse": 1, "szse": 1}
    assert found.loc[("SSE", "股票"), "src"] == "sse"
    assert found.loc[("SZSE", "股票"), "src"] == "szse"
    assert found.loc[("BSE", "股票"), "src"] == "derived"
    assert {"主板A股", "科创板"} <= set(found.loc["SSE"].index)
    assert found.loc[("SZSE", "创业板A股"), ["volume_yi", "pe_ratio", "turnover_pct"]].isna().all()
    quotes = rows(services, "raw_quote")
    beijing = quotes[(quotes["market"] == "BJ") & (quotes["sec_type"] == "stock")]
    beijing = beijing[beijing["src"] == "tencent"]  # every source has a quote
    assert found.loc[("BSE", "股票"), "amount_yi"] == pytest.approx(beijing["amount"].sum() / 1e8, abs=0.01)


def test_an_exchange_that_is_away_is_summed_up_and_stands_aside_when_it_is_back(services: Services) -> None:
    services.raw("exchange_overview", TODAY)
    official = rows(services, "exchange_overview", TODAY)
    services.faults.replace([away("sse")])
    services.fresh()
    services.raw("exchange_overview", TODAY)
    assert rows(services, "exchange_overview", TODAY).equals(
        official
    )  # a sum of ours replaces no official row


def test_sums_of_our_own_quotes_are_close_to_the_exchange(services: Services) -> None:
    from platform_assets.datasets.exchange_overview import own_quotes

    ctx = services.run.ctx.view(services.run.ctx.log, read=services.run.read)
    own = own_quotes(ctx, services.scope(TODAY)).set_index("exchange")
    services.raw("exchange_overview", TODAY)
    reported = rows(services, "exchange_overview", TODAY)
    reported = reported[reported["sec_class"] == "股票"].set_index("exchange")
    for column in ("amount_yi", "total_market_cap_yi"):
        assert own.loc["SSE", column] == pytest.approx(reported.loc["SSE", column], rel=0.05)


def test_nothing_is_out_before_the_evening(services: Services) -> None:
    services.clock.at = datetime.fromisoformat(f"{TODAY}T15:45")
    services.fresh()
    assert services.run.ctx.sse.overview(TODAY).empty
    assert services.run.ctx.hkex.connect_day(TODAY).empty


def test_a_download_of_the_market_tells_rows_channels_and_fusions(services: Services) -> None:
    held = []

    def leases(domain: str | None):
        held.append(domain)
        return nullcontext()

    connect = download_market(services.run, "northbound", DAYS[0], leases)
    assert (connect["status"], connect["total"], connect["latest_date"]) == ("success", 5, DAYS[0])
    assert connect["channels"] == ["ggt_sh", "ggt_sz", "hgt", "north", "sgt"]
    assert "fusion" not in connect
    margin = download_market(services.run, "exchange_margin", TODAY, leases)
    assert margin["status"] == margin["fusion"]["margin"]["status"] == "success"
    assert margin["saved"] > 20
    assert held == ["daily"]
    lines = services.warehouse.frame("sys_sync_log")
    assert lines["task_type"].tolist()[-2:] == ["northbound", "exchange_margin"]


def test_a_lock_of_another_run_fails_the_fusion_and_not_the_download(services: Services) -> None:
    def taken(domain: str | None):
        raise ConflictError(f"{domain} is held by another run")

    reported = download_market(services.run, "exchange_block_trade", TODAY, taken)
    assert reported["status"] == "success"
    assert "held" in reported["fusion"]["block_trade"]["message"]
    services.faults.replace([away("sse"), away("szse")])
    services.fresh()
    failed = download_market(services.run, "exchange_block_trade", TODAY, taken)
    assert (failed["status"], failed["total"]) == ("failed", 0)
    assert "fusion" not in failed
    with pytest.raises(InputError, match="no market-level"):
        download_market(services.run, "quote", TODAY, taken)
