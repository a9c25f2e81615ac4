"""Research client of the platform; the command line `ashare` is beside it.

    import ashare

    market = ashare.open("data")
    market.read("kline_daily", codes=["600519"], since="2026-01-01", adjust="qfq")

Importing this package loads neither pandas nor PyArrow, nor anything of the server: what a call needs is
imported by the call.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ashare.client.backends import NotSupported
    from ashare.client.client import Client
    from ashare.client.frames import Panel
    from core.errors import Forbidden, InputError, NotFound, PlatformError, StorageError, Unavailable

__all__ = [
    "Client",
    "Forbidden",
    "InputError",
    "NotFound",
    "NotSupported",
    "Panel",
    "PlatformError",
    "StorageError",
    "Unavailable",
    "open",
]
_ERRORS = frozenset({"Forbidden", "InputError", "NotFound", "PlatformError", "StorageError", "Unavailable"})
"""Every error that a call raises is a PlatformError."""


def open(address: str = "data", *, token: str | None = None, frames: str = "pandas") -> "Client":
    """A client of one platform's data.

    `address` is a data folder (`"data"`), the address of an API (`"http://127.0.0.1:8000"`, with the `token`
    of a login), a lake (`"lake:data/lake"`, `"s3://bucket/prefix"`) or `"live"`: no platform, the upstreams
    themselves (`"live:folder"` says where answers are kept). `frames`: what reads return, pandas,
    polars or arrow. Nothing is asked yet; a bad address raises `InputError`.

    >>> open("data")  # doctest: +SKIP
    Client('data', backend='folder')
    """
    from ashare.client.client import connected  # noqa: PLC0415  see above

    return connected(address, token=token, frames=frames)


def __getattr__(name: str) -> Any:
    if name in _ERRORS:
        from core import errors  # noqa: PLC0415  see above

        return getattr(errors, name)
    if name == "NotSupported":
        from ashare.client.backends import NotSupported  # noqa: PLC0415  see above

        return NotSupported
    if name == "Client":
        from ashare.client.client import Client  # noqa: PLC0415  see above

        return Client
    if name == "Panel":
        from ashare.client.frames import Panel  # noqa: PLC0415  see above

        return Panel
    raise AttributeError(f"module 'ashare' has no attribute {name!r}")
