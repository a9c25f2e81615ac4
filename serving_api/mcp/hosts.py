"""Which Host and Origin a request of the mounted channel may carry.

A page of a stranger can make a browser send requests here, and by a name that it lets point to this machine
(DNS rebinding) even read the answers. An address in digits and `localhost` cannot be rebound; any other name
has to be listed in MCP_ALLOWED_HOSTS. An Origin, which browsers alone send, must be of the same host.
"""

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

LOCAL = "localhost"


def host_of(value: str) -> str | None:
    """The host of a Host header, lower case, without its port; None for what is none."""
    try:
        split = urlsplit(f"//{value}")
        host, _ = split.hostname, split.port
    except ValueError:
        return None
    if not host or split.path or split.query or split.fragment or "@" in value:
        return None
    return host.rstrip(".")


def is_allowed_host(value: str | None, listed: Collection[str]) -> bool:
    """Whether a Host header names an address in digits, this machine, or a listed name."""
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
    """Whether a request has no Origin, or one of the host that it asks, or of a listed name."""
    if origin is None:
        return True
    scheme, _, rest = origin.partition("://")
    own = host_of(rest) if scheme in {"http", "https"} else None
    return own is not None and (own in listed or (host is not None and own == host_of(host)))


def parse_hosts(text: str) -> frozenset[str]:
    """MCP_ALLOWED_HOSTS: a comma list of names, a port is ignored."""
    found = (host_of(part.strip().lower()) for part in text.split(",") if part.strip())
    return frozenset(name for name in found if name)
