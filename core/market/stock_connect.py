"""Channels of the stock connect, and since when what northbound investors did is not disclosed."""

UNDISCLOSED_FROM = "2024-08-19"
NORTHBOUND = ("hgt", "sgt", "north")
CHANNELS = (*NORTHBOUND, "ggt_sh", "ggt_sz")


def is_hidden(channel: str, day: str) -> bool:
    """Whether buys, sells, net and quota of a channel on an ISO date are not disclosed: null, never 0."""
    return channel in NORTHBOUND and day >= UNDISCLOSED_FROM
