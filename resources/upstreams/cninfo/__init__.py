"""The disclosure platform of the listed companies."""

from resources.upstreams.cninfo.client import CninfoClient

__all__ = ["CninfoClient"]
