"""raw_top_holders: the ten largest holders of a company, of all its shares and of the float, by report
period."""

import pandas as pd
import pandera.pandas as pa

from core.days import moved
from core.declaration.columns import K16, S8, S32, S64, S255, Big, Code, Date, Int, Model, Pct, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.market.securities import is_a_share
from core.report_periods import is_period, open_on_any
from core.text_keys import hash_key
from platform_assets.datasets._rotation import in_season
from resources.upstreams.fetch_context import FetchContext

KINDS = ("top10", "float10")
_KEY = ["code", "report_period", "holder_type"]
_PAST_DAYS = 3 * 366
"""Days that a request by codes reaches back."""
_ODD = 5.0
_TOLD_PCT = 0.05
"""Below it the two decimals of a ratio say too little."""


class TopHolder(Model):
    """One line of one list. Ranks tie, and a holder may have two lines."""

    code: Code = key("security code")
    report_period: Date = key("end of the report period")
    holder_type: S8 = key("top10: of all shares, float10: of the float", isin=list(KINDS))
    holder_key: K16 = key("16 hex of the SHA-1 of name, share nature and number among equal lines")
    rank_no: Int = col("", "rank", ge=1)
    holder_name: S255 = col(title="holder", nullable=False)
    hold_shares: Big = col("sh", "shares held", ge=0)
    ratio_pct: Pct = col("pct", "shares held / all shares (float10: float shares)", ge=0, le=100)
    change_shares: Big = col("sh", "change since the period before")
    change_text: S32 = col(title="the change in words: 新进, 不变, 增加, 减少")
    share_nature: S64 = col(title="kind of the shares")

    @pa.dataframe_check
    def ratio_fits_shares(cls, rows: pd.DataFrame) -> pd.Series:
        """All lines of a list speak of the same shares: what shares / ratio makes of them is alike."""
        reported = rows["ratio_pct"] >= _TOLD_PCT
        whole = (rows["hold_shares"].astype(float) / rows["ratio_pct"].astype(float)).where(reported)
        middle = whole.groupby([rows["code"], rows["report_period"], rows["holder_type"]]).transform("median")
        return ~((whole > _ODD * middle) | (whole < middle / _ODD))

    @pa.dataframe_check
    def within_the_whole(cls, rows: pd.DataFrame) -> pd.Series:
        """No list holds more than everything."""
        sums = rows.groupby(_KEY)["ratio_pct"].transform("sum")
        return ~(sums.astype(float) > 100.5)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Up to 220 calls for a period that is being disclosed: two lists of 55,000 rows, each in two slices.
    Codes: the periods of three years, about three calls for a hundred codes and list."""
    if scope.codes is not None:
        since = moved(scope.until, -_PAST_DAYS)
        parts = [
            ctx.eastmoney.top_holders_of(kind, codes, since, scope.until)
            for codes in scope.named_groups()
            for kind in KINDS
        ]
    else:
        parts = [
            ctx.eastmoney.top_holders(kind, period) for period in open_on_any(scope.dates) for kind in KINDS
        ]
    rows = stacked(parts, [*_KEY, "holder_key"])
    if rows.empty:
        return rows
    requested = rows["code"].map(is_a_share).astype(bool) & rows["report_period"].map(is_period).astype(bool)
    return keyed(rows[requested].reset_index(drop=True))


def keyed(rows: pd.DataFrame) -> pd.DataFrame:
    """`holder_key` added: equal lines of a list are numbered, so that each has its own."""
    nature = rows["share_nature"].fillna("")
    numbers = rows.groupby([*_KEY, "holder_name", nature]).cumcount()
    made = zip(rows["holder_name"], nature, numbers, strict=True)
    return rows.assign(holder_key=[hash_key(name, kind, str(number)) for name, kind, number in made])


DATASET = Raw(
    name="top_holders",
    title="Ten largest holders of all shares and of the float, by report period",
    model=TopHolder,
    partition=Partition.REPORT_PERIOD,
    sources=(Source("eastmoney", portal, only_when=in_season),),
    per_code=True,
).alone(
    subject="holders",
    title="Ten largest holders by report period",
    tasks=("aux_f10_events_sync",),
    interfaces=(
        stock("get_top_holders", "of_period", "top ten holders", ttl=3600, order="rank_no").takes(
            code=REQUIRED, report_period=DAY, holder_type="float10"
        ),
    ),
)
