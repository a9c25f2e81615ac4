"""The topic portal (`ths`): limit-ups with their reasons, popularity, strong stocks with tags."""

from resources.upstreams.ths.client import ThsClient

__all__ = ["ThsClient"]
