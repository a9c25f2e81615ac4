"""Daily figures of the stock connect from its two sources: channels, columns, what is not disclosed.

10k CNY; of the southbound channels 10k of what the source counts in (Hong Kong: HKD). Since 2024-08-19 what
northbound investors bought or sold and the remaining quota are not disclosed: such a figure is missing,
whatever is in its field.
"""

import math
from typing import Any

import pandas as pd

from core.errors import PayloadError
from core.market.stock_connect import is_hidden
from resources.rejections import once_each
from resources.upstreams.parsing.frames import frame, numbers, texts

DAY_COLUMNS: dict[str, str] = {
    **texts("trade_date channel"),
    **numbers("net_buy buy_amt sell_amt deal_amt quota_balance trade_count"),
}
MILLION = 100.0
"""10k in a million."""
_HIDDEN = ("net_buy", "buy_amt", "sell_amt", "quota_balance")
_SMALLEST_DEAL, _LARGEST_DEAL = 0.1, 100.0
_SLACK = 3.0


def accepted(row: dict[str, Any], what: str) -> dict[str, Any]:
    """A row of `DAY_COLUMNS` without what is not disclosed. PayloadError when bought and sold are not the
    turnover, or a mean deal is outside 1,000 .. 1,000,000: another unit."""
    if is_hidden(row["channel"], row["trade_date"]):
        row |= dict.fromkeys(_HIDDEN, math.nan)
    traded, count = row["deal_amt"], row["trade_count"]
    gap = abs(row["buy_amt"] + row["sell_amt"] - traded)
    if gap > _SLACK:
        raise PayloadError(f"{what}: bought and sold are not the turnover")
    if count > 0 and not _SMALLEST_DEAL <= traded / count <= _LARGEST_DEAL:
        raise PayloadError(f"{what}: {traded / count:.4f} x 10k a deal: another unit")
    return row


def day_frame(rows: list[dict[str, Any]], what: str) -> pd.DataFrame:
    """Columns `DAY_COLUMNS`, each channel of a date once."""
    return once_each(frame(rows, DAY_COLUMNS), ["trade_date", "channel"], what)
