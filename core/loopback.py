"""This machine's own addresses are reached without a proxy, which is for upstreams and models."""

import ipaddress
from collections.abc import MutableMapping

HOSTS = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `localhost` or an address of loopback."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def add_no_proxy(environ: MutableMapping[str, str]) -> None:
    """Add the loopback hosts to `no_proxy`, in both spellings: a client reads one or the other."""
    listed = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    hosts = [host.strip() for host in listed.split(",") if host.strip()]
    hosts += [host for host in HOSTS if host not in hosts]
    environ["no_proxy"] = environ["NO_PROXY"] = ",".join(hosts)
