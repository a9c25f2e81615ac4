"""What is known of a stock on a date, where the newest state of a table would be that of today."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from platform_assets.datasets._industries import LEVELS
from resources.upstreams.fetch_context import FetchContext

CLASSES = "raw_index_constituent"
SHARES = ("total_shares", "float_shares")
SPELLING = "the fullest spelling that was shown up to the load: on an ex-date a name makes room for its XD"
"""Why names of one date differ between loads."""
_SPAN = ("code", "in_date", "as_of_date")
_MORNING = "09:00:00.000000"
"""What is stored by then belongs to the trade date before: no session has passed since."""


def known_on(
    ctx: FetchContext, table: str, columns: Sequence[str], day: str, codes: Sequence[str] | None = None
) -> pd.DataFrame:
    """Rows of a table without dates as they were known before the session after `day` began."""
    now = ctx.clock.now().isoformat(sep=" ", timespec="microseconds")
    newest = ctx.calendar.on_or_before(ctx.today)
    at = now if day >= newest else min(now, f"{ctx.calendar.offset(day, 1)} {_MORNING}")
    return ctx.read(table, columns=columns, codes=codes, as_of=at)


@dataclass(frozen=True)
class Classes:
    """Which SW classes each stock was in, by date."""

    spans: pd.DataFrame
    """code, in_date, as_of_date, level, index_code, index_name; `as_of_date` null: it is in the class."""

    @classmethod
    def read(cls, read: Callable[..., pd.DataFrame], codes: Sequence[str] | None = None) -> "Classes":
        """`read`: that of a fetch context, or the one of a derivation."""
        rows = read(CLASSES, columns=("provider", *_SPAN, "index_code", "index_name"), codes=codes)
        rows = rows[rows["provider"] == "sw"]
        newest = rows["as_of_date"] == rows.groupby("code")["as_of_date"].transform("max")
        rows = rows.assign(level=rows["index_code"].map(sw_level), as_of_date=rows["as_of_date"].mask(newest))
        return cls(rows)

    def on(self, day: str) -> pd.DataFrame:
        """code, sw_l1, sw_l1_name .. sw_l3_name: the classes of a date."""
        spans = self.spans
        held = spans[(spans["in_date"] <= day) & ~(spans["as_of_date"] < day).fillna(False)]
        rows = held[["code"]].drop_duplicates()
        for level in LEVELS:
            own = held[held["level"] == level].drop_duplicates("code", keep="last")
            columns = {"index_code": f"sw_{level}", "index_name": f"sw_{level}_name"}
            rows = rows.merge(own[["code", *columns]].rename(columns=columns), on="code", how="left")
        return rows.reset_index(drop=True)


def sw_level(index_code: str) -> str:
    """l1, l2 or l3 of an index of the classification."""
    if index_code.startswith("85"):
        return "l3"
    return "l1" if index_code.endswith("0") else "l2"


def listed_on(master: pd.DataFrame, day: str) -> pd.Series:
    """Rows of the security master (list_date, delist_date) that were listed on a day; an unknown listing date
    is one long ago."""
    return ~(master["list_date"] > day).fillna(False) & ~(master["delist_date"] <= day).fillna(False)


def shares_on(ctx: FetchContext, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
    """code, total_shares, float_shares in force on a date: as quoted on it, else of the newest record of a
    change up to it. A record of the portal's is exact, one of the terminal's a float32."""
    records = _records(ctx, day, codes)
    quoted = ctx.read("raw_quote", columns=("code", "src", *SHARES), codes=codes, since=day, until=day)
    quoted = quoted[quoted["total_shares"] > 0].assign(
        rank=lambda q: q["src"].map({"eastmoney": 0}).fillna(1)
    )
    quoted = quoted.sort_values(["code", "rank"]).drop_duplicates("code").set_index("code")
    known = records.set_index("code")
    both = quoted[list(SHARES)].reindex(quoted.index.union(known.index))
    return both.combine_first(known[list(SHARES)]).rename_axis("code").reset_index()


def _records(ctx: FetchContext, day: str, codes: Sequence[str] | None) -> pd.DataFrame:
    """code, total_shares, float_shares after each code's newest change up to a date."""
    portal = ctx.read("aux_equity", columns=("code", "change_date", "src", *SHARES), codes=codes, until=day)
    portal = portal[portal["total_shares"] > 0].rename(columns={"change_date": "date"})
    terminal = ctx.read(
        "ref_exright", columns=("code", "date", "total_after", "float_after"), codes=codes, until=day
    )
    terminal = terminal[terminal["total_after"] > 0].rename(
        columns={"total_after": "total_shares", "float_after": "float_shares"}
    )
    exact = portal["src"].map({"em_f10": 3, "cninfo": 2}).fillna(1)
    rows = pd.concat([portal.assign(rank=exact), terminal.assign(rank=0)], ignore_index=True)
    rows = rows.sort_values(["code", "date", "rank"], kind="stable").drop_duplicates("code", keep="last")
    return rows[["code", *SHARES]].reset_index(drop=True)
