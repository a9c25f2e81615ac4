"""Checks that the address of a user's tool server is public, also after its name was resolved.

A name may resolve to another address later. Code that connects to a stored server calls
`public_addresses` again and connects to one of the returned addresses, never to the name.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import SplitResult, urlsplit

import anyio
import anyio.to_thread

from core.errors import InputError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Host -> its addresses; raises OSError when there are none."""

LOOK_UP_S = 3.0
_SCHEMES = ("http", "https")
_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NOT_GLOBAL = (ipaddress.ip_network("192.0.0.0/24"), ipaddress.ip_network("192.88.99.0/24"))
"""For protocols and relays; the standard library calls some of them global."""


async def look_up(host: str) -> Sequence[str]:
    """Resolves with the resolver of the machine, off the event loop."""

    def ask() -> list[str]:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return [str(entry[4][0]) for entry in found]

    with anyio.move_on_after(LOOK_UP_S):
        return await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
    raise TimeoutError(f"no answer within {LOOK_UP_S:.0f} s")


def parsed_url(url: str, parameter: str) -> SplitResult:
    """An http(s) address with a host and without credentials. Raises InputError."""
    try:
        split = urlsplit(url)
        host, _ = split.hostname, split.port
    except ValueError:
        raise InputError(
            parameter, "is no address; http://host/path or https://host/path is allowed"
        ) from None
    if split.scheme.lower() not in _SCHEMES or not host:
        raise InputError(parameter, "http:// or https:// with a host is allowed")
    if any(one.isspace() or ord(one) < 0x20 or one == "\\" for one in url):
        raise InputError(parameter, "holds a space, a backslash or a control character")
    if split.username is not None or split.password is not None:
        raise InputError(parameter, "holds a user or password; put credentials into headers")
    return split


async def public_addresses(url: str, parameter: str, resolve: Resolve = look_up) -> list[Address]:
    """The addresses behind an http(s) URL, all of them public. Raises InputError for any that is loopback,
    private, link-local or reserved, in whatever notation, and for a name that cannot be resolved."""
    split = parsed_url(url, parameter)
    host = (split.hostname or "").rstrip(".").lower()
    refused = "is no public address: loopback, private and link-local ones are for administrators"
    if any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        raise InputError(parameter, refused)
    try:
        # Also 127.1, 0x7f000001 and the like: the resolver interprets them as a connection would.
        found = [ipaddress.ip_address(text.partition("%")[0]) for text in await resolve(_ascii(host))]
    except (OSError, ValueError):
        found = []
    if not found:
        raise InputError(parameter, "its host cannot be looked up, so it may be a private one")
    if not all(is_public(address) for address in found):
        raise InputError(parameter, refused)
    return found


def _ascii(host: str) -> str:
    """Raises ValueError for a name that cannot be resolved."""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host.encode("idna").decode("ascii")
    return host


def is_public(address: Address) -> bool:
    """Whether the address, and one embedded in it, belongs to the public internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None or address.is_site_local:
            return False
    elif any(address in network for network in _NOT_GLOBAL):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)
