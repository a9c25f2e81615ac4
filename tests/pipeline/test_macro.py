"""The economy: three upstreams in one table, when a figure is known, and its releases."""

from collections.abc import Iterator

import pandas as pd
import pytest

from platform_assets.datasets import _macro_sources
from platform_assets.datasets.macro_indicator import (
    DATASET,
    accumulates_within_its_year,
    comes_with_its_past,
    keeps_its_past,
)
from platform_assets.pipeline.download import AllSourcesFailed
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.pipeline.conftest import Services, opened_services

VALUES, RELEASES = "fusion_macro_indicator", "fusion_macro_release"
FIRST, SECOND, LATER = "2026-08-07", "2026-08-21", "2026-09-18"


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def services(request, tmp_path_factory, sample_world) -> Iterator[Services]:
    """Loads of early August, of two weeks later, of September; a year of daily values is past enough."""
    folder = tmp_path_factory.mktemp("macro")
    patch = pytest.MonkeyPatch()
    patch.setattr(_macro_sources, "YEARS", 1)
    patch.setattr(_macro_sources, "SHORT_YEARS", 1)
    for url in engine_url(request.param, folder):
        with opened_services(url, folder, sample_world) as opened:
            for day in (FIRST, SECOND, LATER):
                opened.at(day)
                opened.fuse("macro_indicator", day)
                opened.fuse("macro_release", day)
            yield opened
    patch.undo()


def rows(services: Services, table: str = VALUES, as_of: str | None = None):
    return services.warehouse.frame(table, columns=services.warehouse.table(table).names, as_of=as_of)


def one(services: Services, indicator: str, period: str, as_of: str | None = None):
    found = rows(services, as_of=as_of)
    found = found[(found["indicator"] == indicator) & (found["period_date"] == period)]
    return None if found.empty else found.iloc[0]


def test_every_series_has_rows_and_each_names_its_source(services: Services) -> None:
    found = rows(services)

    reported = found.groupby("indicator")["src"].agg(set)
    assert reported["cn_cpi_yoy"] == reported["us_bond_10y"] == reported["dxy"] == {"eastmoney"}
    assert reported["cn_bond_1y"] == {"chinabond"}
    assert reported["cn_bond_10y"] == {"eastmoney"}
    assert (found["quality"] == "ok").mean() > 0.99
    assert not found.duplicated(["indicator", "period_date"]).any()


def test_the_three_upstreams_agree(services: Services) -> None:
    flags = rows(services)["quality_flags"].dropna()

    assert not flags.str.contains("source_conflict").any()


def test_a_monthly_figure_is_known_from_its_first_sight(services: Services) -> None:
    july = one(services, "cn_cpi_yoy", "2026-07-01")
    assert july["publish_date"] == SECOND  # released on the ninth, seen by the load after it
    assert july["valid_from"][:16] == f"{SECOND} 15:45"
    assert one(services, "cn_cpi_yoy", "2026-07-01", as_of=f"{SECOND} 15:00:00.000000") is None
    assert not july["publish_estimated"]
    assert july["prev_value"] == one(services, "cn_cpi_yoy", "2026-06-01")["value"]


def test_history_of_a_first_load_is_known_from_the_usual_day_and_says_so(services: Services) -> None:
    june = one(services, "cn_cpi_yoy", "2026-06-01")
    assert (june["publish_date"], june["publish_estimated"]) == ("2026-07-16", True)
    assert june["valid_from"][:19] == "2026-07-16 23:59:59"
    assert one(services, "cn_cpi_yoy", "2026-06-01", as_of="2026-07-16 23:00:00.000000") is None
    assert one(services, "cn_cpi_yoy", "2026-06-01", as_of="2026-07-17 00:00:00.000000") is not None
    found = rows(services, as_of="2020-06-30 23:00:00.000000")
    month = found[found["indicator"] == "cn_pmi_mfg"]["period_date"].max()
    assert month == "2020-05-01"
    marked = rows(services)
    marked = marked[marked["publish_estimated"].fillna(False).astype(bool)]
    assert (marked["publish_date"] < FIRST).all()
    assert (marked["publish_date"] > marked["period_date"]).all()
    # A figure of January that comes out with that of February is not known before it.
    customs = one(services, "cn_export", "2026-01-01")
    assert customs is None or customs["publish_date"] == "2026-03-18"


def test_daily_values_are_known_in_the_evening_of_their_day_and_american_ones_the_day_after(
    services: Services,
) -> None:
    curve, foreign = one(services, "cn_bond_10y", "2026-08-20"), one(services, "us_bond_10y", "2026-08-20")
    assert (curve["publish_date"], curve["valid_from"][:16]) == ("2026-08-20", "2026-08-20 18:00")
    assert (foreign["publish_date"], foreign["valid_from"][:16]) == ("2026-08-21", "2026-08-21 07:00")
    assert one(services, "cn_bond_10y", "2026-08-20", as_of="2026-08-20 17:59:00.000000") is None


def test_a_corrected_figure_is_a_version_with_the_publication_it_had(services: Services) -> None:
    before = one(services, "cn_retail", "2026-07-01", as_of=f"{SECOND} 23:00:00.000000")
    now = one(services, "cn_retail", "2026-07-01")

    assert now["value"] != before["value"]
    assert now["publish_date"] == before["publish_date"] == SECOND
    assert now["valid_from"][:10] == LATER
    assert one(services, "cn_retail", "2026-08-01")["prev_value"] == now["value"]


def test_the_past_is_asked_for_once(services: Services) -> None:
    services.fresh()
    again = services.fuse("macro_indicator", LATER)

    assert sum(again.calls.values()) < 30
    assert again.results[0].rows_written == 0
    assert services.fuse("macro_release", LATER).results[0].rows_written == 0


def test_a_release_is_dated_and_not_repeated_when_it_is_corrected(services: Services) -> None:
    events = rows(services, RELEASES).set_index("event_key")
    cpi = events[(events["indicator"] == "cn_cpi_yoy") & (events["period_text"] == "2026年8月")].iloc[0]
    assert (cpi["release_time"], cpi["src"]) == (f"{LATER} 15:45:00", "derived")
    assert (cpi["actual"], cpi["previous"]) == (
        one(services, "cn_cpi_yoy", "2026-08-01")["value"],
        one(services, "cn_cpi_yoy", "2026-07-01")["value"],
    )
    retail = events[(events["indicator"] == "cn_retail_yoy")]
    assert len(retail) == retail["period_text"].nunique()
    assert events[["forecast", "revised", "surprise"]].isna().all().all()
    old = events[(events["region"] == "cn") & (events["release_time"] < "2026-08")]
    assert set(old["indicator"]) <= {"cn_lpr_1y", "cn_lpr_5y", "cn_rrr_large", "cn_rrr_small"}


def test_an_event_to_come_has_no_figure_and_gets_it(services: Services) -> None:
    events = rows(services, RELEASES)
    coming = events[(events["indicator"] == "us_cpi_yoy") & events["actual"].isna()]
    assert coming["release_time"].tolist() == ["2026-10-12 00:00:00"]
    reported = events[(events["indicator"] == "us_cpi_yoy") & (events["period_text"] == "2026年8月")].iloc[0]
    assert reported["release_time"] == "2026-09-12 00:00:00"
    before = rows(services, RELEASES, as_of=f"{SECOND} 23:00:00.000000").set_index("event_key")
    assert before.loc[reported["event_key"], "actual"] != reported["actual"]  # not known then


def test_a_series_that_is_a_month_off_is_flagged(services: Services) -> None:
    """Also an index near 100, whose changes alone show it, and a rate that hardly ever moves."""
    key = ["indicator", "period_date"]
    before = rows(services).set_index(key)
    services.faults.replace([{"upstream": "eastmoney", "call": "report", "kind": "swap_rows"}])
    services.fresh()
    services.fuse("macro_indicator", LATER)
    first = rows(services).set_index(key)
    services.fresh()
    again = services.fuse("macro_indicator", LATER)
    services.faults.clear()

    # Loading it twice does not confirm it: nothing is written, and every flag stays.
    assert again.results[0].rows_written == 0
    now = rows(services).set_index(key)
    assert now["quality"].equals(first["quality"])
    other = pd.concat([(now[name] - before[name]).abs() > 0.05 for name in ("value", "yoy")], axis=1)
    moved = now[other.any(axis=1)]
    for indicator in ("cn_cpi_index", "cn_lpr_1y", "cn_industry_ytd_yoy"):
        assert set(moved.loc[indicator, "quality"]) == {"warning"}


def test_a_report_that_changed_is_left_out_and_a_portal_that_is_away_leaves_the_others(
    services: Services,
) -> None:
    columns = [{"upstream": "eastmoney", "call": "kline", "kind": "garbage", "args": {}}]
    services.faults.replace(columns)
    services.fresh()
    loaded = services.fuse("macro_indicator", LATER)
    portal = next(item for item in loaded.sources if item["src"] == "eastmoney")
    assert "error" not in portal
    records = services.warehouse.frame("sys_quality_record")
    assert records["message"].str.contains("no source answered for").any()

    services.faults.replace(
        [{"upstream": "eastmoney", "call": "report", "kind": "status", "args": {"code": 503}}]
    )
    services.fresh()
    loaded = services.fuse("macro_indicator", LATER)
    assert {item["src"]: "error" in item for item in loaded.sources} == {
        "eastmoney": True,
        "chinabond": False,
        "chinamoney": False,
    }
    kinds = [{"upstream": name, "call": "*", "kind": "empty", "args": {}}
             for name in ("eastmoney", "chinabond", "chinamoney")]  # fmt: skip
    services.faults.replace(kinds)
    services.fresh()
    with pytest.raises(AllSourcesFailed):
        services.fuse("macro_indicator", LATER)
    services.faults.clear()
    assert len(rows(services)) > 10_000


def test_a_year_so_far_that_its_months_cannot_add_up_to_is_marked(services: Services) -> None:
    names = ["indicator", "period_date", "value"]
    stored = services.warehouse.frame(VALUES, columns=names)
    reported = {(name, day): value for name, day, value in stored.itertuples(index=False)}
    loans = [reported["cn_rmb_loan_ytd", f"2026-{month:02d}-01"] for month in range(1, 8)]
    assert loans == sorted(loans)
    assert loans[0] == reported["cn_rmb_loan", "2026-01-01"]
    assert reported["cn_gdp_ytd", "2026-04-01"] > reported["cn_gdp_ytd", "2026-01-01"]

    context = Table(stored)
    assert accumulates_within_its_year(stored, context).all()
    wrong = stored.copy()
    at = wrong.index[(wrong["indicator"] == "cn_rmb_loan_ytd") & (wrong["period_date"] == "2026-01-01")]
    gdp = wrong.index[(wrong["indicator"] == "cn_gdp_ytd") & (wrong["period_date"] == "2026-04-01")]
    cpi = wrong.index[(wrong["indicator"] == "cn_cpi_ytd") & (wrong["period_date"] == "2026-01-01")]
    wrong.loc[at, "value"] *= 1.3
    wrong.loc[gdp, "value"] = reported["cn_gdp_ytd", "2026-01-01"] * 0.9
    wrong.loc[cpi, "value"] += 1
    marked = wrong.index[~accumulates_within_its_year(wrong, context)]
    assert {*at, *gdp, *cpi} <= set(marked)
    assert set(wrong.loc[marked, "indicator"]) == {"cn_rmb_loan_ytd", "cn_gdp_ytd", "cn_cpi_ytd"}


@pytest.mark.parametrize("name", ["cn_cpi_ytd", "cn_ppi_ytd", "cn_industry_ytd_yoy"])
def test_a_mean_of_the_year_so_far_that_its_months_do_not_make_is_marked(
    services: Services, name: str
) -> None:
    """They hardly change, so a wrong one does not differ from its own past: their months do."""
    stored = services.warehouse.frame(VALUES, columns=["indicator", "period_date", "value"])
    context = Table(stored)
    wrong = 0
    for month in range(2, 8):
        for shift in (-1.5, 1.5):
            reported = stored.copy()
            at = reported.index[
                (reported["indicator"] == name) & (reported["period_date"] == f"2026-{month:02d}-01")
            ]
            reported.loc[at, "value"] += shift
            marked = reported.index[~accumulates_within_its_year(reported, context)]
            wrong += list(marked) == list(at)  # this one, and not the one after it
    assert wrong == 12


def test_means_of_the_year_as_they_really_were_are_not_marked() -> None:
    """Industrial growth of 2020 and 2021: January is not reported, February weighs little, and both are far
    from what was usual; consumer prices of 2023. Published figures."""
    real = {
        "cn_industry_yoy": {"2019-11": 6.2, "2019-12": 6.9, "2020-03": -1.1, "2020-04": 3.9, "2020-05": 4.4,
                            "2020-06": 4.8, "2021-03": 14.1, "2021-04": 9.8},
        "cn_industry_ytd_yoy": {"2020-03": -8.4, "2020-04": -4.9,
                                "2020-05": -2.8, "2020-06": -1.3, "2021-02": 35.1, "2021-03": 24.5,
                                "2021-04": 20.3},
        "cn_cpi_index": {"2023-01": 102.1, "2023-02": 101.0, "2023-03": 100.7, "2023-04": 100.1},
        "cn_cpi_ytd": {"2023-01": 102.1, "2023-02": 101.5, "2023-03": 101.3, "2023-04": 101.0},
    }  # fmt: skip
    rows = pd.DataFrame(
        [(name, f"{month}-01", value) for name, line in real.items() for month, value in line.items()],
        columns=["indicator", "period_date", "value"],
    )
    marked = rows[~accumulates_within_its_year(rows, Table(rows))]
    # The first mean of 2020 and of 2021 are the two that nothing before them would let one expect.
    assert set(marked["period_date"]) <= {"2020-03-01", "2021-02-01"}
    rows.loc[rows["indicator"] == "cn_cpi_ytd", "value"] += [0, 0, 0, 1.0]
    marked = rows[~accumulates_within_its_year(rows, Table(rows))]
    assert ("cn_cpi_ytd", "2023-04-01") in set(zip(marked["indicator"], marked["period_date"], strict=True))


def test_a_year_so_far_may_fall_after_a_month_below_zero() -> None:
    """New loans of July 2025 were below zero."""
    rows = pd.DataFrame(
        {
            "indicator": ["cn_rmb_loan", "cn_rmb_loan", "cn_rmb_loan_ytd", "cn_rmb_loan_ytd"],
            "period_date": ["2025-06-01", "2025-07-01", "2025-06-01", "2025-07-01"],
            "value": [22400.0, -500.0, 129200.0, 128700.0],
        }
    )
    assert accumulates_within_its_year(rows, Table(rows)).all()
    rows.loc[1, "value"] = 500.0
    assert accumulates_within_its_year(rows, Table(rows)).tolist() == [True, True, True, False]


def test_a_mean_that_hardly_moves_is_flagged_with_the_report_whose_months_are_exchanged() -> None:
    """Industrial growth of 2024 as published: the mean of the year was 5.8 from August on, so that few
    of its own figures distinguish a month from the next."""
    months = [f"2024-{month:02d}-01" for month in range(6, 13)]
    real = {"cn_industry_yoy": [5.3, 5.1, 4.5, 5.4, 5.3, 5.4, 6.2],
            "cn_industry_ytd_yoy": [6.0, 5.9, 5.8, 5.8, 5.8, 5.8, 5.8],
            "cn_retail_yoy": [2.0, 2.7, 2.1, 3.2, 4.8, 3.0, 3.7]}  # fmt: skip
    stored = pd.concat(
        [
            pd.DataFrame({"indicator": name, "period_date": months, "value": line, "yoy": line})
            for name, line in real.items()
        ],
        ignore_index=True,
    ).assign(mom=None, quality_flags=None)
    stored["prev_value"] = stored.groupby("indicator")["value"].shift()

    def marked(
        reported: pd.DataFrame, known: pd.DataFrame, check=comes_with_its_past
    ) -> set[tuple[str, str]]:
        wrong = reported[~check(reported, Table(known))]
        return set(zip(wrong["indicator"], wrong["period_date"].str[:7], strict=True))

    corruption = stored.copy()
    of_report = corruption["indicator"] != "cn_retail_yoy"
    for name in ("value", "yoy"):
        corruption.loc[of_report, name] = (
            corruption[of_report].groupby("indicator")[name].shift(-1).fillna(5.0)
        )
    corruption["prev_value"] = corruption.groupby("indicator")["value"].shift()
    found, others = marked(corruption, stored), marked(corruption, stored, keeps_its_past)
    assert {name for name, _ in others} == {"cn_industry_yoy"}
    assert found == {("cn_industry_ytd_yoy", f"2024-{month}") for month in ("06", "07", "08", "12")}
    # A month that comes with it is flagged as well; loading it twice does not confirm it, and the truth is
    # accepted.
    first = stored[stored["period_date"] < "2024-12"]
    assert ("cn_industry_ytd_yoy", "2024-12") in marked(corruption, first)
    flags = pd.Series("", index=corruption.index)
    for check in (keeps_its_past, comes_with_its_past):
        flags = flags.mask(~check(corruption, Table(stored)), f'["{check.__name__}"]')
    flagged = corruption.assign(quality_flags=flags)
    assert (marked(corruption, flagged), marked(corruption, flagged, keeps_its_past)) == (found, others)
    assert marked(stored, flagged) == marked(stored, first) == set()
    assert comes_with_its_past in [soft.check for soft in DATASET.soft]
    # A single month that is corrected flags no other series.
    corrected = stored.copy()
    corrected.loc[0, ["value", "yoy"]] = 5.2
    assert marked(corrected, stored) == set()


class Table:
    """What a check reads: the stored series."""

    def __init__(self, stored: pd.DataFrame) -> None:
        self._stored = stored

    def read(self, name: str, columns: tuple[str, ...]) -> pd.DataFrame:
        return self._stored[list(columns)]
