"""Notices and news: fallbacks, one row per headline of whichever paper and time, requests, contents."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.declaration.rules import Rows
from platform_assets.datasets import _press
from platform_assets.datasets.news import earnings_make_the_price
from platform_assets.pipeline.batches import Loaded
from platform_assets.pipeline.fusion_rules import fuse
from platform_assets.pipeline.on_demand import download
from simulated_market.world.model import World
from tests.pipeline.conftest import TODAY, Services, opened_services

BEFORE, TOMORROW, SUNDAY, MONDAY, LATER = (
    "2026-08-20", "2026-08-22", "2026-08-23", "2026-08-24", "2026-08-26"
)  # fmt: skip
CNINFO_DOWN = {"upstream": "cninfo", "kind": "garbage"}
PORTAL_DOWN = {"upstream": "eastmoney", "kind": "garbage"}


@pytest.fixture
def plain(tmp_path: Path, sample_world: World) -> Iterator[Services]:
    """Services on the plain engine, for what has nothing to do with storage."""
    with opened_services(f"sqlite:///{tmp_path}/plain.db", tmp_path, sample_world) as opened:
        yield opened


def notices(services: Services, *dates: str) -> Loaded:
    services.raw("raw_announcements", *dates)
    services.stage("announcement", *dates)
    return services.fuse("announcement", *dates)


def news(services: Services, *dates: str) -> Loaded:
    for name in ("raw_news", "raw_reports", "aux_news"):
        services.raw(name, *dates)
    services.stage("news", *dates)
    return services.fuse("news", *dates)


def written(loaded: Loaded) -> int:
    return sum(result.rows_written for result in loaded.results)


def test_notices_of_a_day_in_a_few_calls_and_the_day_before_with_them(plain: Services) -> None:
    plain.master()
    raw = plain.raw("raw_announcements")
    plain.stage("announcement")
    plain.fuse("announcement")

    rows = plain.warehouse.frame("fusion_announcement")
    assert raw.calls == {"cninfo": 1}
    assert set(rows["pub_date"]) == {BEFORE, TODAY}
    assert set(rows["src"]) == {"cninfo"}
    assert (rows["quality"] == "ok").all()
    assert rows["category"].notna().all()
    assert set(rows["importance"]) <= {1, 2, 3}
    # Without a time of its own a notice is public from the beginning of its date.
    plain_day = rows[rows["pub_time"].isna()]
    assert (plain_day["valid_from"].str[:16] == plain_day["pub_date"] + " 00:00").all()
    timed = rows.dropna(subset=["pub_time"])
    assert 0 < len(timed) < len(rows)
    assert (timed["valid_from"].str[:19] == timed["pub_time"]).all()
    assert not rows["title"].str.contains("<em>|:").any()
    assert rows.duplicated(subset=["ann_id"]).any()  # one notice of two companies


def test_the_portal_stands_in_and_tells_the_moment(plain: Services) -> None:
    plain.faults.replace([CNINFO_DOWN])
    loaded = plain.raw("raw_announcements")
    plain.stage("announcement")
    plain.fuse("announcement")

    rows = plain.warehouse.frame("fusion_announcement")
    assert [item["src"] for item in loaded.sources if item.get("error")] == ["cninfo"]
    assert set(rows["src"]) == {"eastmoney"}
    assert (rows["valid_from"].str[:19] == rows["pub_time"]).all()
    assert (rows["pub_time"].str[:10] <= rows["pub_date"]).all()

    # The platform comes back: it wins, and the moment stays.
    plain.faults.clear()
    plain.fresh()
    notices(plain)
    after = plain.warehouse.frame("fusion_announcement")
    assert set(after["src"]) == {"cninfo"}
    assert after["pub_time"].notna().all()
    assert len(after) == len(rows)


def test_a_fallback_replaces_nothing_of_a_better_source(plain: Services) -> None:
    notices(plain)
    before = plain.warehouse.frame("raw_announcements")
    plain.faults.replace([CNINFO_DOWN])
    plain.fresh()

    assert written(notices(plain)) == 0
    after = plain.warehouse.frame("raw_announcements")
    assert after["src"].tolist() == before["src"].tolist()
    assert len(after) == len(before)


def test_shenzhen_alone_is_half_a_market_and_says_so(
    plain: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform_assets.datasets.announcement._MANY", 1)
    plain.faults.replace([CNINFO_DOWN, PORTAL_DOWN])

    loaded = notices(plain)

    rows = plain.warehouse.frame("fusion_announcement")
    assert set(rows["src"]) == {"szse"}
    assert rows["code"].str.match("0|3").all()
    assert any("of Shanghai" in quality.message for quality in loaded.whole[TODAY])


def test_another_spelling_of_a_title_is_the_notice_that_is_stored(services: Services) -> None:
    services.raw("raw_announcements")
    with services.warehouse.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE raw_announcements SET title = REPLACE(title, '公告', ' 公告')")
    before = services.warehouse.frame("raw_announcements")
    services.fresh()

    again = services.raw("raw_announcements")

    assert written(again) == 0
    assert services.warehouse.frame("raw_announcements")["title"].tolist() == before["title"].tolist()


def test_a_weekends_notices_belong_to_monday(plain: Services) -> None:
    plain.at(MONDAY)

    loaded = notices(plain, MONDAY)

    rows = plain.warehouse.frame("fusion_announcement")
    weekend = rows[rows["pub_date"].isin([TOMORROW, "2026-08-23"])]
    assert len(weekend) > 0
    assert loaded.of(MONDAY).rows_written == len(rows[rows["pub_date"] > TODAY])


def test_what_is_put_up_tonight_comes_with_the_next_load(plain: Services) -> None:
    notices(plain)
    known = len(plain.warehouse.frame("fusion_announcement"))
    plain.at(MONDAY)
    notices(plain, MONDAY)

    assert len(plain.warehouse.frame("fusion_announcement")) > known
    plain.fresh()
    assert written(notices(plain, MONDAY)) == 0


def test_news_is_asked_for_codes_with_events_only(plain: Services) -> None:
    assert plain.raw("raw_news").calls == {}  # nothing is known to have happened
    notices(plain)
    plain.fresh()

    loaded = plain.raw("raw_news")
    copied = plain.raw("aux_news")

    events = plain.warehouse.frame("fusion_announcement")
    requested = set(events[events["importance"] >= 2]["code"])
    assert loaded.calls == {"eastmoney": len(requested)}
    assert copied.calls == {}
    rows = plain.warehouse.frame("raw_news")
    assert set(rows["code"]) <= requested
    assert len(rows) == len(plain.warehouse.frame("aux_news"))
    assert plain.raw("raw_reports").calls == {"eastmoney": 1}


def test_a_range_is_asked_in_spans_and_the_search_knows_no_past(plain: Services) -> None:
    dates = plain.run.calendar.between("2026-06-01", "2026-07-10")

    raw = plain.raw("raw_announcements", *dates)
    reports = plain.raw("raw_reports", *dates)

    assert len(dates) == 29
    assert {result.partition_key for result in raw.results} >= set(dates)
    rows = plain.warehouse.frame("raw_announcements")
    assert rows["pub_date"].min() <= "2026-06-01"
    assert rows["pub_date"].max() == "2026-07-10"
    assert reports.calls["eastmoney"] >= 2
    assert plain.raw("raw_news", *dates).calls == {}


def test_limits_and_new_listings_are_events_and_the_number_is_bounded(
    plain: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {
        "fusion_announcement": pd.DataFrame({"code": ["000003", "000001"], "importance": [2, 3]}),
        "fusion_kline_daily": pd.DataFrame({"code": ["000002", "000009"], "limit_status": ["up", "up_open"]}),
        "fusion_stock_master": pd.DataFrame(
            {"code": ["000004", "000008", "000007"], "list_date": ["2026-08-10", "2020-01-01", None]}
        ),
    }
    monkeypatch.setattr(plain.run.ctx, "_read", lambda table, **_: tables[table])

    assert _press.event_codes(plain.run.ctx, plain.scope()) == ["000001", "000002", "000004", "000003"]
    monkeypatch.setattr(_press, "MOST_EVENT_CODES", 2)
    assert _press.event_codes(plain.run.ctx, plain.scope()) == ["000001", "000002"]


def test_news_and_research_stand_in_one_table(plain: Services) -> None:
    notices(plain)
    news(plain)

    rows = plain.warehouse.frame("fusion_news")
    assert set(rows["news_type"]) == {"news", "research"}
    research = rows[rows["news_type"] == "research"]
    assert research[["rating", "org", "source", "url"]].notna().all().all()
    assert research["content"].isna().all()
    assert (rows["pub_time"].str[:10] <= TODAY).all()
    # Of research only the day is known: it is public at its end, or when we learned of it.
    past = research[research["pub_time"].str[:10] == BEFORE]
    assert (past["valid_from"].str[:19] == f"{BEFORE} 23:59:59").all()
    papers = rows[rows["news_type"] == "news"]
    assert (papers["valid_from"].str[:19] == papers["pub_time"]).all()
    assert (rows["quality"] == "ok").all()
    plain.fresh()
    assert written(news(plain)) == 0


def test_a_ratio_in_the_place_of_the_earnings_is_marked(plain: Services) -> None:
    plain.day()
    plain.fuse("kline_daily", BEFORE)
    news(plain)
    names = ["code", "title_key", "eps_fy1", "quality"]
    true = plain.warehouse.frame("fusion_news", columns=names).dropna(subset=["eps_fy1"])
    assert len(true) > 5
    assert set(true["quality"]) == {"ok"}

    plain.faults.replace([{"upstream": "eastmoney", "call": "research", "kind": "shift_columns"}])
    plain.fresh()
    news(plain)
    reported = plain.warehouse.frame("fusion_news", columns=names).merge(true, on=["code", "title_key"])
    other = reported[(reported["eps_fy1_x"] - reported["eps_fy1_y"]).abs() > 0.01]
    assert len(other) > 5
    assert set(other["quality_x"]) == {"warning"}


def test_forecasts_at_the_prices_of_a_week_before_are_not_flagged() -> None:
    """Real closes of two years and twenty stocks, with their ex-right days: a report of each fortnight,
    written five trade dates before it comes out, at 8 to 65 times the earnings."""
    file = Path(__file__).parents[1] / "real_data" / "bars_daily_raw_20_codes_2020_2021.csv.gz"
    bars = pd.read_csv(file, usecols=["date", "code", "close"]).sort_values(["code", "date"])
    bars = bars.dropna(ignore_index=True)
    groups = bars.groupby("code")
    ratio = 8.0 + 3 * groups.ngroup()
    earned = (groups["close"].shift(5) / ratio).round(2)
    reports = bars[["code"]].assign(
        url=bars["code"] + bars["date"], pub_time=bars["date"] + " 00:00:00", news_type="research",
        eps_fy1=earned, eps_fy2=(earned * 1.1).round(2), pe_fy1=ratio,
    )[groups.cumcount() % 10 == 5]  # fmt: skip
    assert len(reports) > 700
    assert earnings_make_the_price(reports, Stored(bars, reports)).all()

    shifted = reports.assign(eps_fy1=reports["pe_fy1"], eps_fy2=reports["eps_fy1"], pe_fy1=3.0)
    shifted = shifted[(shifted["eps_fy1"] / shifted["eps_fy2"] - 1).abs() > 0.02]
    assert (~earnings_make_the_price(shifted, Stored(bars, shifted))).mean() > 0.95
    incomplete = reports.assign(eps_fy1=reports["eps_fy1"] * 3, eps_fy2=None, pe_fy1=float("nan"))
    assert earnings_make_the_price(incomplete, Stored(bars, incomplete)).all()


class Stored:
    """What the check reads: closes, and reports as received."""

    calendar = shipped_calendar()

    def __init__(self, bars: pd.DataFrame, reports: pd.DataFrame) -> None:
        received = reports.rename(columns={"url": "pdf_url"})
        self._tables = {"fusion_kline_daily": bars, "raw_reports": received}

    def read(self, table: str, *, columns: tuple[str, ...], since: str, until: str) -> pd.DataFrame:
        return self._tables[table][list(columns)]


def put_news(services: Services, *rows: tuple[str, str, str, str]) -> None:
    """(src, time, title, content) of 600000 into the RAW tables."""
    from core.text_keys import text_key
    from resources.warehouse.batch_records import Batch
    from resources.warehouse.slices import Slice

    for src, time, title, content in rows:
        table, text = ("raw_news", "content") if src == "eastmoney" else ("aux_news", "summary")
        row = {"code": "600000", "title_key": text_key(title), "src": src, "pub_time": time, "title": title}
        frame = pd.DataFrame([{**row, text: content}])
        where = Slice.of_codes(["600000"])
        services.warehouse.writer.write(
            services.warehouse.table(table), frame, where=where, batch=Batch(partition_key="t")
        )


def test_one_headline_of_two_papers_is_one_row_with_the_earliest_time_and_the_longest_text(
    plain: Services,
) -> None:
    put_news(
        plain,
        ("eastmoney", f"{TODAY} 10:00:00", "某公司 中标（大单）", "短文" * 10),
        ("em_f10", f"{TODAY} 09:00:00", "某公司中标(大单)", "更长的文字" * 10),
    )
    plain.stage("news")
    plain.fuse("news")

    (row,) = plain.warehouse.frame("fusion_news").to_dict("records")
    assert (row["src"], row["pub_time"], row["title"]) == (
        "eastmoney",
        f"{TODAY} 09:00:00",
        "某公司 中标（大单）",
    )
    assert row["content"] == "更长的文字" * 10
    assert row["sentiment"] == 1
    assert written(plain.fuse("news")) == 0


def test_a_headline_printed_again_stays_the_row_that_it_was(plain: Services) -> None:
    put_news(plain, ("eastmoney", f"{TODAY} 10:00:00", "融资余额变动一图看懂", "文字" * 20))
    plain.stage("news")
    plain.fuse("news")
    put_news(plain, ("em_f10", f"{LATER} 10:00:00", "融资余额变动一图看懂", "别的文字" * 20))
    plain.at(LATER)
    plain.stage("news", LATER)
    plain.fuse("news", LATER)

    (row,) = plain.warehouse.frame("fusion_news").to_dict("records")
    assert row["pub_time"] == f"{TODAY} 10:00:00"
    assert row["content"] == "文字" * 20


def test_a_headline_that_turns_out_to_be_older_keeps_its_first_version(services: Services) -> None:
    put_news(services, ("eastmoney", f"{MONDAY} 10:00:00", "融资余额变动一图看懂", "文字" * 20))
    services.at(MONDAY)
    services.stage("news", MONDAY)
    services.fuse("news", MONDAY)
    put_news(services, ("em_f10", f"{TODAY} 10:00:00", "融资余额变动一图看懂", "别的文字" * 20))
    services.stage("news", TODAY)
    loaded = services.fuse("news", TODAY)

    (row,) = services.warehouse.frame("fusion_news").to_dict("records")
    assert row["pub_time"] == f"{TODAY} 10:00:00"
    assert sum(result.rows_superseded for result in loaded.results) == 1


def test_a_download_of_codes_brings_their_past(plain: Services) -> None:
    plain.raw("raw_announcements")
    code = plain.warehouse.frame("raw_announcements")["code"].iloc[0]

    reported = download(plain.run, [code], ["announcements", "news", "reports", "aux_news"], TODAY)

    assert reported["types"]["announcements"]["codes"][code]["total"] > 2
    assert all(part["status"] == "success" for part in reported["fusion"]["results"].values())
    assert (plain.warehouse.frame("fusion_announcement")["code"] == code).all()
    plain.fresh()
    again = download(plain.run, [code], ["announcements", "news", "reports", "aux_news"], TODAY)
    assert all(part["saved"] == 0 for part in again["fusion"]["results"].values())


def test_a_soft_block_of_the_search_is_a_failure_and_deletes_nothing(plain: Services) -> None:
    notices(plain)
    news(plain)
    before = len(plain.warehouse.frame("fusion_news"))
    body = 'jQuery_news({"code":0,"msg":"OK","result":{"passportWeb":[]}})'
    args = {"code": 200, "body": body}
    blocked = {"upstream": "eastmoney", "call": "articles", "kind": "status", "args": args}
    others = [{"upstream": name, "kind": "garbage"} for name in ("cls", "sina")]
    plain.faults.replace([blocked, *others])
    plain.fresh()

    with pytest.raises(Exception, match="without articles"):
        plain.raw("raw_news")
    plain.stage("news")
    plain.fuse("news")
    assert len(plain.warehouse.frame("fusion_news")) == before


@pytest.mark.parametrize("last", ["cls", "sina"])
def test_flash_news_that_name_stocks_stand_in_for_the_search(plain: Services, last: str) -> None:
    notices(plain)
    silent = {"upstream": "eastmoney", "call": "articles", "kind": "garbage"}
    plain.faults.replace([silent, *([{"upstream": "cls", "kind": "garbage"}] if last == "sina" else [])])
    plain.fresh()
    flash = plain.raw("raw_news_flash")
    loaded = plain.raw("raw_news")
    assert set(flash.calls) == {"eastmoney"}
    assert [item["src"] for item in loaded.sources if item.get("rows")] == [last]
    rows = plain.warehouse.frame("raw_news")
    reported = plain.warehouse.frame("raw_news_flash")
    assert set(rows["src"]) == {last}
    assert set(rows["code"]) == {code for codes in reported["codes"] for code in json.loads(codes)}
    assert rows["pub_time"].min() >= BEFORE

    if last == "cls":
        assert plain.raw("aux_news").calls.get("cls") is None  # the answers of `raw_news` once more
        assert len(plain.warehouse.frame("aux_news")) == len(rows)
    plain.stage("news")
    plain.fuse("news")
    fused = plain.warehouse.frame("fusion_news")
    assert set(fused["src"]) == {last}
    assert set(fused["source"]) == set(rows["media"])
    plain.fresh()
    assert written(plain.raw("raw_news")) == 0

    code = rows["code"].iloc[0]
    plain.fresh()
    one = download(plain.run, [code], ["news"], TODAY)["types"]["news"]
    assert one["codes"][code]["total"] == (rows["code"] == code).sum()

    # The search answers again: its headlines are added to those, and nothing is lost.
    plain.faults.clear()
    plain.fresh()
    news(plain)
    assert set(plain.warehouse.frame("raw_news")["src"]) == {"eastmoney", last}


def test_flash_news_of_other_papers_where_the_portal_is_silent(plain: Services) -> None:
    plain.faults.replace([PORTAL_DOWN])
    first = plain.raw("raw_news_flash")
    plain.faults.replace([PORTAL_DOWN, {"upstream": "cls", "kind": "garbage"}])
    plain.fresh()
    second = plain.raw("raw_news_flash")

    rows = plain.warehouse.frame("raw_news_flash")
    by_source = rows.groupby("src")["flash_id"].nunique()
    assert set(first.calls) == {"eastmoney", "cls"}
    assert set(second.calls) == {"eastmoney", "cls", "sina"}
    # One market: both papers have the same times, with ids of their own.
    assert by_source["cls"] == by_source["sina"] > 20
    moments = {src: set(reported["pub_time"]) for src, reported in rows.groupby("src")}
    assert moments["cls"] == moments["sina"]
    # News of an index names no stock.
    assert rows["codes"].str.fullmatch(r'\[("[0-9]{6}")?\]').all()
    assert (rows.loc[rows["title"].str.match("沪指|深成指|创业板指"), "codes"] == "[]").all()
    assert (rows["codes"] != "[]").mean() > 0.7


def test_flash_news_of_the_days_and_never_a_past_that_cannot_be_asked(plain: Services) -> None:
    loaded = plain.raw("raw_news_flash")

    rows = plain.warehouse.frame("raw_news_flash")
    assert loaded.calls["eastmoney"] < 6
    assert rows["pub_time"].between(f"{BEFORE} 00:00:00", f"{TODAY} 15:45:00").all()
    assert rows["codes"].str.startswith('["').mean() > 0.7
    assert (rows.loc[rows["title"].str.match("沪指|深成指|创业板指"), "codes"] == "[]").all()
    assert plain.raw("raw_news_flash", "2026-06-01").calls == {}
    plain.clock.at = datetime.fromisoformat(f"{TODAY}T17:00")
    plain.fresh()
    assert written(plain.raw("raw_news_flash")) > 0


def test_news_of_a_day_without_trading_is_loaded_on_that_day(plain: Services) -> None:
    """Saturday's load is one of Friday's date; Monday's covers Saturday as well and takes nothing away."""
    plain.raw("raw_news_flash")
    plain.clock.at = datetime.fromisoformat(f"{TOMORROW}T17:00")
    plain.fresh()

    loaded = plain.raw("raw_news_flash")

    of_saturday = (
        f"SELECT src, flash_id FROM raw_news_flash WHERE pub_time>='{TOMORROW}' AND pub_time<'{SUNDAY}'"
    )
    before = set(plain.warehouse.query(of_saturday))
    assert before
    assert loaded.results[-1].partition_key == TODAY

    plain.clock.at = datetime.fromisoformat(f"{MONDAY}T17:00")
    plain.fresh()
    again = plain.raw("raw_news_flash", MONDAY)
    assert again.results[-1].partition_key == MONDAY
    assert set(plain.warehouse.query(of_saturday)) >= before


def test_earliest_and_longest_of_all_sources() -> None:
    frame = pd.DataFrame(
        {
            "code": ["a", "a", "b", "c", "c"],
            "time": ["2", "1", "5", "3", None],
            "text": ["xx", None, None, "y", "yyy"],
            "src": ["first", "second", "second", "first", "second"],
        }
    )
    fused = fuse(frame, ["code"], ["first", "second"], Rows(earliest=("time",), longest=("text",)))

    rows = fused.frame.set_index("code")
    assert rows["time"].to_dict() == {"a": "1", "b": "5", "c": "3"}
    assert rows.loc["a", "text"] == "xx"
    assert rows.loc["c", "text"] == "yyy"
    assert rows["src"].to_dict() == {"a": "first", "b": "second", "c": "first"}
    assert rows.loc["c", "provenance"] == '{"second":["text"]}'


def test_disclosure_dates_are_planned_and_then_actual(plain: Services) -> None:
    plain.raw("raw_announcements")
    loaded = plain.raw("cninfo_periodic_report")

    rows = plain.warehouse.frame("cninfo_periodic_report")
    assert loaded.calls == {"cninfo": 1}
    assert set(rows["report_period"]) == {"2026-06-30"}
    assert len(rows) > 50
    done = rows[rows["actual_date"].notna()]
    assert 0 < len(done) < len(rows)
    assert (done["actual_date"] <= TODAY).all()
    assert (rows[rows["actual_date"].isna()]["first_date"] > TODAY).all()
    reported = done[done["actual_date"] == TODAY]
    assert (reported["report_title"] == "2026年半年度报告").all()
    assert reported["pdf_url"].str.startswith("http").all()
    assert rows["change1_date"].notna().any()
    plain.fresh()
    assert written(plain.raw("cninfo_periodic_report")) == 0
    # The portal's report of the same dates, when the platform is away.
    plain.fresh()
    plain.faults.replace([{"upstream": "cninfo", "call": "schedule", "kind": "double_rows"}])
    assert plain.raw("cninfo_periodic_report").calls["eastmoney"] == 1
    plain.faults.clear()
    columns = ["code", "first_date", "change1_date", "actual_date"]
    second = plain.warehouse.frame("cninfo_periodic_report")
    assert second[columns].fillna("").equals(rows[columns].fillna(""))
    assert set(second["src"]) == {"cninfo"}  # the same values, so nothing is written


def test_disclosure_dates_go_on_moving_while_the_platform_is_away(plain: Services) -> None:
    plain.raw("cninfo_periodic_report")
    before = plain.warehouse.frame("cninfo_periodic_report").set_index("code")["actual_date"]
    plain.at(LATER)
    plain.faults.replace([{"upstream": "cninfo", "call": "schedule", "kind": "double_rows"}])
    plain.raw("cninfo_periodic_report", LATER)

    rows = plain.warehouse.frame("cninfo_periodic_report").set_index("code")
    came = rows["actual_date"].notna() & before.reindex(rows.index).isna()
    assert came.any()
    assert rows.loc[came, "actual_date"].between(TOMORROW, LATER).all()
    assert set(rows.loc[came, "src"]) == {"eastmoney"}
    assert "cninfo" in set(rows.loc[~came, "src"])
    # The platform is back, and reports the same.
    plain.faults.clear()
    plain.fresh()
    assert written(plain.raw("cninfo_periodic_report", LATER)) == 0


def test_before_anybody_has_disclosed_a_quarter_the_one_before_is_told(plain: Services) -> None:
    def stored() -> dict[str, bool]:
        """Period -> whether anybody has disclosed it."""
        rows = plain.warehouse.frame("cninfo_periodic_report")
        return {
            str(period): one["actual_date"].notna().any() for period, one in rows.groupby("report_period")
        }

    plain.at("2026-07-02")  # without plans of the half year
    assert plain.raw("cninfo_periodic_report", "2026-07-02").calls == {"cninfo": 2}
    assert stored() == {"2026-03-31": True}
    plain.at("2026-07-03")
    assert plain.raw("cninfo_periodic_report", "2026-07-03").calls == {"cninfo": 1}
    plain.at("2026-07-06")  # with plans, and without reports
    assert plain.raw("cninfo_periodic_report", "2026-07-06").calls == {"cninfo": 1}
    assert stored() == {"2026-03-31": True, "2026-06-30": False}


def test_disclosure_dates_are_asked_while_reports_are_due(plain: Services) -> None:
    from platform_assets.datasets.periodic_report import _period_of

    plain.at("2026-06-10")  # a Wednesday out of season, and nothing is stored yet
    assert plain.raw("cninfo_periodic_report", "2026-06-10").calls == {"cninfo": 1}
    rows = plain.warehouse.frame("cninfo_periodic_report")
    assert set(rows["report_period"]) == {"2026-03-31"}
    assert (rows["actual_date"] <= "2026-04-30").all()
    plain.at("2026-06-11")
    assert plain.raw("cninfo_periodic_report", "2026-06-11").calls == {}
    titles = {
        "2025年年度报告": "2025-12-31",
        "2026年第一季度报告": "2026-03-31",
        "2026年半年度报告全文": "2026-06-30",
        "2026年半年度报告（更正后）": "2026-06-30",
        "2026年半年度报告摘要": None,
        "2026年半年度报告（英文版）": None,
        "2026年半年度报告（已取消）": None,
    }
    assert {title: _period_of(title) for title in titles} == titles
