"""The social site: quotes and popularity, behind the token that any visitor gets."""

from resources.upstreams.xueqiu.client import XueqiuClient

__all__ = ["XueqiuClient"]
