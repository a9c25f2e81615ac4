"""calc_chip_daily: distribution of the cost of the float (CYQ) of every stock that traded on a date.

Definition: `docs/calculations/chips.md`: decay by turnover over 210 bars in 150 price buckets, prices
adjusted as of the row's own date.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.declaration.columns import Code, Date, Json, Model, Pct, Px, col, key
from core.declaration.dataset import Dataset
from core.declaration.frames import canonical_json, stacked
from core.declaration.interfaces import by_date, history, latest
from core.declaration.rules import trading
from core.declaration.scope import Scope
from platform_assets.compute.date_ranges import Stretch
from platform_assets.datasets._quant import BARS, WHOLE_WINDOW, columns_without, rows_of, stretches_of
from resources.upstreams.fetch_context import FetchContext

DISTRIBUTION_DATES = 60
"""Distributions take 2 kB a row: only the newest dates, as many as this, hold theirs."""


class ChipDaily(Model):
    """Costs at the close; null while a bar of the window has no turnover."""

    code: Code = key("security code")
    date: Date = key("trade date")
    close: Px = col("CNY", "closing price, unadjusted", nullable=False, gt=0)
    profit_ratio_pct: Pct = col("pct", "share of the float below the close", ge=0, le=100)
    avg_cost: Px = col("CNY", "median cost", gt=0)
    cost_50: Px = col("CNY", "median cost", gt=0)
    cost_90_low: Px = col("CNY", "5 % of the float cost less", gt=0)
    cost_90_high: Px = col("CNY", "5 % of the float cost more", gt=0)
    concentration_90_pct: Pct = col("pct", "(high - low) / (high + low) of the 90 %", ge=0)
    cost_70_low: Px = col("CNY", "15 % of the float cost less", gt=0)
    cost_70_high: Px = col("CNY", "15 % of the float cost more", gt=0)
    concentration_70_pct: Pct = col("pct", "(high - low) / (high + low) of the 70 %", ge=0)
    peak_price: Px = col("CNY", "price of the largest bucket", gt=0)
    peak_ratio_pct: Pct = col("pct", "its share of the float", ge=0, le=100)
    support_price: Px = col("CNY", "largest bucket below the close; null if none", gt=0)
    resistance_price: Px = col("CNY", "largest bucket above the close; null if none", gt=0)
    distribution: Json = col(title="[[price in CNY, share in percent]] of the newest 60 trade dates")


def chips(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every date from its own window."""
    from platform_assets.compute.chips import chip_columns  # noqa: PLC0415  loads numba

    frames = []
    shown_from = ctx.calendar.offset(ctx.calendar.on_or_before(ctx.today), 1 - DISTRIBUTION_DATES)
    for stretch in stretches_of(ctx, scope):
        rows = rows_of(stretch, stretch.of(chip_columns(stretch.bars, newest=stretch.newest)))
        rows["distribution"] = _distributions(stretch, rows["date"].to_numpy(dtype=object) >= shown_from)
        frames.append(rows)
    return stacked(frames, ChipDaily.to_schema().columns)


def _distributions(stretch: Stretch, shown: npt.NDArray[np.bool_]) -> list[str | None]:
    """Distribution of each requested row that is `shown`, None for the others and where none is known."""
    from platform_assets.compute.chips import chip_distribution  # noqa: PLC0415  loads numba

    reported: list[str | None] = [None] * len(shown)
    if shown.any():
        newest = int(stretch.bars.from_end[stretch.rows[shown]].max())
        found = chip_distribution(stretch.bars, newest=newest)
        for at, place in zip(
            np.flatnonzero(shown).tolist(), stretch.places(newest)[shown].tolist(), strict=True
        ):
            reported[at] = canonical_json(found[place]) if found[place] else None
    return reported


DATASET = Dataset(
    name="chip_daily",
    subject="signals",
    title="Chip distribution by trade date",
    model=ChipDaily,
    adjusted=columns_without(ChipDaily, ChipDaily.close),
    calculate=chips,
    reads=(BARS,),
    needs=(WHOLE_WINDOW,),
    freshness=trading(1),
    short_lived={"distribution": DISTRIBUTION_DATES},
    tasks=("quant_calc",),
    interfaces=(
        latest("get_chip", "newest chip row of a code", 600),
        history("get_chip_history", "chip rows of a code by date, oldest first", 600, limit=60),
        by_date("get_chip_by_date", "chip rows of the market on one date", 600),
    ),
)
