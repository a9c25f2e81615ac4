"""How an answer says that values of it rest on a provisional factor (`serving_api/db/adjusted_reads.py`).

The header `X-Factor: provisional` is on every such answer. Where adjusted prices are what was asked for, the
body has `factor` as well: `provisional` or `final`; null where nothing is adjusted.
"""

from platform_assets.research.factors import PROVISIONAL
from serving_api.db.adjusted_reads import AdjustedReads

FACTOR: tuple[str, type] = ("factor", str)
"""The key beside the results, for `serves(top=…)`; routes do not fill it themselves."""
HEADER = "X-Factor"


def header_of(reads: AdjustedReads) -> dict[str, str]:
    """The header of an answer made from these reads."""
    return {HEADER: PROVISIONAL} if reads.codes else {}
