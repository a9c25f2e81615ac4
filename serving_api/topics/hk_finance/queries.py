"""SQL of the reads on Hong Kong. Every function takes a Session first; RAW tables keep no versions."""

from serving_api.catalog.queries import Row, public_rows
from serving_api.reading import Session

TABLE = "raw_hk_finance"


def periods(session: Session, code: str, limit: int) -> list[Row]:
    """The newest report periods of a company, newest first."""
    return public_rows(
        session, TABLE, where="code=?", values=(code,), order="report_period DESC", limit=limit
    )
