"""Funds on the exchanges: the lists of ETFs, of LOFs and of REITs."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from resources.upstreams.eastmoney.quotes.fields import (
    read_count,
    read_day,
    read_lots,
    read_net,
    read_price,
    read_ratio,
    read_tally,
    read_wan,
)
from resources.upstreams.eastmoney.quotes.lists import listed_rows
from resources.upstreams.parsing.frames import texts
from resources.upstreams.parsing.rows import columns_of, may

LISTS = {
    "etf": "b:MK0021,b:MK0022,b:MK0023,b:MK0024,b:MK0827",
    "lof": "b:MK0404,b:MK0405,b:MK0406,b:MK0407",
    "reit": "m:1+t:9+e:97,m:0+t:10+e:97",
}
FUND_FIELDS = (
    *may(read_price, "f2 price f441 iopv"),
    *may(read_ratio, "f3 change_pct f8 turnover_pct"),
    *may(read_lots, "f5 volume"),
    *may(read_tally, "f6 amount"),
    *may(read_price, "f15 high f16 low"),
    *may(read_wan, "f20 total_market_cap"),
    *may(read_count, "f38 total_shares"),
    *may(read_net, "f62 main_net"),
    *may(read_day, "f26 list_date f297 trade_date"),
)
FUND_COLUMNS = texts("symbol code market sec_type name") | columns_of(FUND_FIELDS) | {"is_suspended": "b"}


def fund_rows(raws: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows of a list; columns `FUND_COLUMNS`: CNY, shares, 10k CNY, percent. `iopv` of ETFs alone."""
    return listed_rows(raws, FUND_FIELDS, FUND_COLUMNS, "fund list")
