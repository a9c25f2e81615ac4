"""Which Host and Origin headers a listener without a login of its own accepts.

A foreign web page can make a browser send requests to this machine, and with a name that resolves to it (DNS
rebinding) even read the responses. A numeric address and `localhost` cannot be rebound; any other name has to
be listed. An Origin, which only browsers send, must be of the same host.
"""

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

LOCAL = "localhost"


def host_of(value: str) -> str | None:
    """The host of a Host header, lower case, without its port; None for an invalid one."""
    try:
        split = urlsplit(f"//{value}")
        host, _ = split.hostname, split.port
    except ValueError:
        return None
    if not host or split.path or split.query or split.fragment or "@" in value:
        return None
    return host.rstrip(".")


def is_allowed_host(value: str | None, listed: Collection[str]) -> bool:
    """Whether a Host header has a numeric address, this machine, or a listed name."""
    host = host_of(value) if value else None
    if host is None:
        return False
    if host == LOCAL or host in listed:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_allowed_origin(origin: str | None, host: str | None, listed: Collection[str]) -> bool:
    """Whether a request has no Origin, or that of the requested host, or of a listed name."""
    if origin is None:
        return True
    scheme, _, rest = origin.partition("://")
    own = host_of(rest) if scheme in {"http", "https"} else None
    return own is not None and (own in listed or (host is not None and own == host_of(host)))


def parse_hosts(text: str) -> frozenset[str]:
    """A comma-separated list of names as a set; ports are ignored."""
    found = (host_of(part.strip().lower()) for part in text.split(",") if part.strip())
    return frozenset(name for name in found if name)
