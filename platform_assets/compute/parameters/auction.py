"""Which side pushes in an opening auction (quant guide, section 8)."""

MOVED_PCT = 2.0
"""Change to the last close from which a queue on the same side says something: below it one of yesterday's
limit-ups opens as an ordinary stock."""
MOVED_ALONE_PCT = 3.0
"""The same while the queue is not known: the price alone has to say more."""
RUSH, DUMP, BALANCED = "抢筹", "抛压", "均衡"
