"""The quote site (`tencent`): snapshots, bars, intraday lines, money flow, ranking, ticks."""
