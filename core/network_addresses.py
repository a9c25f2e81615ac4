"""Who a connection belongs to: networks of trusted proxies, and the address that limits count by."""

import ipaddress
from collections.abc import Iterable

from core.errors import InputError

IPV6_PREFIX = 64
"""Bits of an IPv6 address that one customer has: the rest is chosen by each device."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_networks(text: str) -> tuple[Network, ...]:
    """TRUSTED_PROXIES: a comma list of addresses or networks. Raises InputError."""
    networks = []
    for part in filter(None, (item.strip() for item in text.split(","))):
        try:
            networks.append(ipaddress.ip_network(part, strict=False))
        except ValueError:
            raise InputError("TRUSTED_PROXIES", f"{part!r} is no address or network") from None
    return tuple(networks)


def is_within(address: str, networks: Iterable[Network]) -> bool:
    """Whether an address is one of these networks'; a text that is no address is of none."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)


def customer_of(address: str) -> str | None:
    """The address itself, or its network of IPv6; None for what is no address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), IPV6_PREFIX), strict=False).network_address)
