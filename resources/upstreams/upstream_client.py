"""What the clients of all upstreams are made of."""

from resources.transport.request import Fetcher


class UpstreamClient:
    """`fetcher` is a transport bound to the log of one piece of work."""

    source = ""
    """The upstream's key."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
