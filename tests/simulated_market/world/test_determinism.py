"""Same seed, same market; the pinned hash changes only together with SAMPLE_VERSION."""

import hashlib
import json

import numpy as np
import pytest

from core.errors import InputError, NotFound
from simulated_market.world import store
from simulated_market.world.draws import Stream, exponential, normal, raw, uniform
from simulated_market.world.full import SyntheticWorld
from simulated_market.world.loader import load_world
from simulated_market.world.synthetic import SAMPLE_VERSION
from tests.simulated_market.world.moments import at

PINNED = {3: "a3d958998d7623a3be0d6dc0e0f0da8d795494ddaef6470d018c12ce66b1ea7b"}


def fingerprint(world):
    return hashlib.sha256(json.dumps(world.manifest(), sort_keys=True).encode()).hexdigest()


def test_profile_s_is_pinned(world):
    assert fingerprint(world) == PINNED[SAMPLE_VERSION]


def test_same_seed_twice_gives_equal_tables(world):
    assert SyntheticWorld("S").manifest() == world.manifest()


def test_another_seed_gives_another_market(world):
    other = SyntheticWorld("S", seed=7)
    assert other.manifest()["close"] != world.manifest()["close"]
    assert other.manifest()["dates"] == world.manifest()["dates"]
    for feature in other.features:
        assert other.find(feature.symbol) is not None


def test_answers_repeat(world):
    security, now = world.find("sz300000"), at(20260821, "10:30")
    again = SyntheticWorld("S")
    assert again.quote(again.find("sz300000"), now) == world.quote(security, now)
    assert again.valuation(security, now) == world.valuation(security, now)
    assert list(again.flows(security, now)) == list(world.flows(security, now))
    assert again.company_text(security, now) == world.company_text(security, now)


def test_the_cache_holds_the_same_world(tmp_path, world):
    built = SyntheticWorld("S", cache_dir=tmp_path)
    (file,) = tmp_path.iterdir()
    cached = SyntheticWorld("S", cache_dir=tmp_path)
    assert cached.manifest() == built.manifest() == world.manifest()
    security = world.find("sh600124")
    now = at(20260821)
    assert list(cached.exrights(security, now)) == list(world.exrights(security, now))
    file.write_bytes(file.read_bytes()[:1000])
    assert store.load(file) is None
    assert SyntheticWorld("S", cache_dir=tmp_path).manifest() == world.manifest()


def test_draws_do_not_depend_on_how_many_are_asked_for():
    whole = raw(1, Stream.IDIO, 5, 100)
    assert np.array_equal(whole[:10], raw(1, Stream.IDIO, 5, 10))
    assert np.array_equal(whole[40:60], raw(1, Stream.IDIO, 5, 20, start=40))
    assert not np.array_equal(whole, raw(1, Stream.VOL, 5, 100))
    assert not np.array_equal(whole, raw(1, Stream.IDIO, 6, 100))
    assert not np.array_equal(whole, raw(2, Stream.IDIO, 5, 100))


def test_draws_are_what_they_are_called():
    numbers = raw(3, Stream.IDIO, 1, 200_000)
    assert uniform(numbers).mean() == pytest.approx(0.5, abs=0.005)
    assert uniform(numbers).min() >= 0
    assert uniform(numbers).max() < 1
    assert (normal(numbers).mean(), normal(numbers).std()) == pytest.approx((0, 1), abs=0.01)
    assert exponential(numbers).mean() == pytest.approx(1, abs=0.02)


def test_streams_have_their_own_numbers():
    assert len({int(s) for s in Stream}) == len(list(Stream))


def test_the_door_refuses_what_it_does_not_know():
    with pytest.raises(InputError, match="profile"):
        load_world("synthetic", "XL")
    with pytest.raises(InputError, match="kind"):
        load_world("imaginary")
    with pytest.raises(InputError, match="real_data_dir"):
        load_world("replay")


def test_a_foreign_security_is_not_found(world, replay):
    with pytest.raises(NotFound):
        world.bars(replay.find("sh600519"), at(20260821))
    assert world.find("sh600519") is None
