"""`load_world`: the world that the settings ask for."""

from collections.abc import Sequence
from pathlib import Path

from core.errors import InputError
from simulated_market.world.built import CALM
from simulated_market.world.full import SyntheticWorld
from simulated_market.world.model import World
from simulated_market.world.replay import ReplayWorld
from simulated_market.world.synthetic import DEFAULT_SEED


def load_world(
    kind: str = "synthetic",
    profile: str = "S",
    seed: int = DEFAULT_SEED,
    *,
    real_data_dir: Path | str | None = None,
    cache_dir: Path | str | None = None,
    texts: Sequence[str] = (),
    state: str = CALM,
    until: int | None = None,
) -> World:
    """`synthetic` (profile S, M or L, seed, optional cache folder, texts for names and titles, state, last
    year where that is after 2026) or `replay` (needs `real_data_dir`)."""
    if kind == "synthetic":
        return SyntheticWorld(profile, seed, Path(cache_dir) if cache_dir else None, texts, state, until)
    if texts:
        raise InputError("texts", "a replayed market has the names of its files")
    if kind == "replay":
        if real_data_dir is None:
            raise InputError("real_data_dir", "a replay world needs the folder of the real bars")
        return ReplayWorld(Path(real_data_dir))
    raise InputError("kind", f"{kind!r} is neither synthetic nor replay")
