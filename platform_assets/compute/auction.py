"""Which side pushes in an opening auction. Pure."""

from platform_assets.compute.parameters.auction import BALANCED, DUMP, MOVED_ALONE_PCT, MOVED_PCT, RUSH


def direction(change_pct: float, unmatched: int | None) -> str:
    """`unmatched` shares: positive for a queue of buyers, negative for one of sellers, None where unknown.

    Buyers push when the price is up by two percent and buyers are left over; sellers the other way round.
    Price and queue against each other are balance. Without a queue the price decides alone, from three
    percent on."""
    if unmatched is None:
        moved = MOVED_ALONE_PCT
        buyers = sellers = True
    else:
        moved = MOVED_PCT
        buyers, sellers = unmatched > 0, unmatched < 0
    if change_pct >= moved and buyers:
        return RUSH
    if change_pct <= -moved and sellers:
        return DUMP
    return BALANCED
