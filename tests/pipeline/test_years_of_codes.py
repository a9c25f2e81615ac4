"""What a load of some codes over many dates writes together."""

import pandas as pd

from core.calendar import shipped_calendar
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from platform_assets.pipeline.slices import Part, by_years, partition_parts
from platform_assets.pipeline.windows import Window

DATES = tuple(shipped_calendar().between("2024-12-30", "2025-01-03"))


def parts(codes: tuple[str, ...] | None) -> tuple[list[Part], Window]:
    window = Window(Partition.TRADE_DATE, "date", Scope(DATES, codes), shipped_calendar())
    frame = pd.DataFrame([{"code": "600519", "date": day} for day in DATES])
    made = list(partition_parts(window, frame))
    for number, part in enumerate(made):
        part.public_at, part.checks = [f"{part.key} 15:00:00"], {"odd": number % 2}
    return made, window


def test_the_dates_of_a_year_are_one_batch_with_the_facts_of_each_row() -> None:
    old, new = by_years(*parts(("600519",)))

    assert (old.key, new.key) == ("2024-12-30..2024-12-31", "2025-01-02..2025-01-03")
    assert new.frame["date"].tolist() == ["2025-01-02", "2025-01-03"]
    assert new.public_at == ["2025-01-02 15:00:00", "2025-01-03 15:00:00"]
    assert (new.where.since, new.where.until, new.where.codes) == ("2025-01-02", "2025-01-03", ("600519",))
    assert new.checks == {"odd": 1}


def test_the_dates_of_the_market_stay_batches_of_their_own() -> None:
    assert [part.key for part in by_years(*parts(None))] == list(DATES)
