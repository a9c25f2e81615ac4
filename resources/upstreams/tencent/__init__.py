"""The quote site (`tencent`): snapshots, bars, intraday lines, money flow, ranking, ticks."""

from resources.upstreams.tencent.client import TencentClient

__all__ = ["TencentClient"]
