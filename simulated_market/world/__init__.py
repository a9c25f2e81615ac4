"""Worlds behind the simulated upstreams: a synthetic market and a replay of real bars.

`load_world` opens one; `SyntheticWorld`, `ReplayWorld` and `FEATURES` are loaded on first use, so that
importing the shapes of `model` costs nothing.
"""
