"""ref_ah_pair: companies that are listed at home and in Hong Kong."""

import pandas as pd

from core.declaration.columns import S64, Code, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.interfaces import REQUIRED, market, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from core.market.securities import is_a_share
from resources.upstreams.fetch_context import FetchContext


class AhPair(Model):
    """One company."""

    a_code: Code = key("security code at home")
    h_code: Code = col(title="security code in Hong Kong, five digits", nullable=False)
    name: S64 = col(title="name at home")
    h_name: S64 = col(title="name in Hong Kong")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Two calls."""
    rows = ctx.eastmoney.ah_pairs()
    requested = rows["a_code"].map(lambda code: is_a_share(code) and scope.covers(code)).astype(bool)
    return rows[requested]


DATASET = Dataset(
    name="ah_pair",
    subject="other_securities",
    title="Companies listed at home and in Hong Kong",
    layer=Layer.REF,
    model=AhPair,
    partition=Partition.SNAPSHOT,
    sources=(Source("eastmoney", portal),),
    may_be_empty=True,
    tasks=("eod_core",),
    interfaces=(
        market("get_ah_pairs", "every", "dual-listed pairs", ttl=86400),
        stock(
            "get_ah_premium",
            "live_ah_premium",
            "A/H premium of a dual-listed stock",
            ttl=60,
            returns="object|null",
        ).takes(code=REQUIRED),
    ),
)
