"""Float shares in force on a date, as far as the records of that time tell them."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from core.arrays import Bools, Floats
from platform_assets.compute.asof import value_on
from platform_assets.compute.exright import moves_price
from platform_assets.datasets._exright_sources import ORDER

_EVENT = ("code", "date", "category", "bonus_per10", "float_after", "held_back", "src")


def float_shares(
    read: Callable[..., pd.DataFrame],
    rows: pd.DataFrame,
    *,
    codes: Sequence[str] | None = None,
    until: str | None = None,
) -> tuple[Floats, Bools]:
    """(float shares on the date of each row, where they are in doubt). `rows`: code, date. They are those of
    the terminal's newest record up to the date, NaN without one. After a later ex-right whose record is not
    there yet they are in doubt, and NaN: one that the ledger has open, since a quoted ratio does not tell
    cash from shares, or shares that only another source reports."""
    events = read("ref_exright", columns=_EVENT, codes=codes, until=until)
    records = events.loc[events["float_after"] > 0, ["code", "date", "float_after"]].assign(doubt=0.0)
    given = moves_price(events) & (events["src"] != ORDER[0]) & (events["bonus_per10"].fillna(0) != 0)
    items = read("ref_exright_item", columns=("code", "date", "status"), codes=codes, until=until)
    steps = pd.concat([events[given], items[items["status"] == "open"]], ignore_index=True)
    steps = steps[["code", "date"]].assign(float_after=np.nan, doubt=1.0)
    facts = pd.concat([records, steps], ignore_index=True)
    facts = facts.drop_duplicates(["code", "date", "doubt"], keep="last").drop_duplicates(["code", "date"])
    return value_on(rows, facts, "float_after"), value_on(rows, facts, "doubt") == 1.0
