"""SQL of the portal's boards."""

from serving_api.db.sessions import Session

BLOCKS = "raw_concept_blocks"


def board_name(session: Session, board_code: str) -> str | None:
    """The name of a board, if it has a stock."""
    if not session.has(BLOCKS):
        return None
    rows = session.rows(BLOCKS, columns=("block_name",), where="block_code=?", values=(board_code,), limit=1)
    return str(rows[0][0]) if rows else None
