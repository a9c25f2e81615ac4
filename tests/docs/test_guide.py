"""The code of 'Adding a dataset' is run: call, answer of the simulated market and dataset, as printed."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from core.declaration.registry import Registry, builtin_registry, load_package
from resources.upstreams.tencent.client import TencentClient
from simulated_market.tencent.responder import TencentResponder
from simulated_market.wire import route
from simulated_market.world.model import World
from tests.docs.pages import ROOT, blocks
from tests.pipeline.conftest import TODAY, Services, opened_services

GUIDE = ROOT / "docs/adding-a-dataset.md"
DATASET, CALL, METHOD, ANSWER, ROUTE = (block.text for block in blocks(GUIDE) if block.language == "python")


def _module(folder: Path, name: str, text: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def world() -> World:
    from simulated_market.world.loader import load_world

    return load_world("synthetic", "S")


@pytest.fixture
def guided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The built-in registry with the guide's dataset, call and answer in place."""
    call = _module(tmp_path, "guide_call", CALL)
    answer = _module(tmp_path, "guide_answer", ANSWER)
    scope: dict[str, Any] = {"sectors": call, "pd": importlib.import_module("pandas")}
    exec("class Holder:\n" + METHOD, scope)
    monkeypatch.setattr(TencentClient, "sectors", scope["Holder"].sectors, raising=False)
    made = eval(ROUTE.strip().rstrip(","), {"route": route, "sectors": answer.sectors})
    before = TencentResponder.__init__

    def extended(self: TencentResponder) -> None:
        before(self)
        self.routes = (*self.routes, made)

    monkeypatch.setattr(TencentResponder, "__init__", extended)
    package = tmp_path / "guide_datasets"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sector_daily.py").write_text(DATASET, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    example = load_package("guide_datasets")
    yield Registry([*builtin_registry().datasets.values(), *example.datasets.values()])
    for name in [name for name in sys.modules if name.startswith("guide_")]:
        del sys.modules[name]


@contextmanager
def _services(
    registry: Registry, folder: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Services]:
    monkeypatch.setattr("tests.pipeline.conftest.builtin_registry", lambda: registry)
    with opened_services(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, world) as opened:
        yield opened


def test_the_example_runs_from_the_wire_to_the_fused_table(
    guided: Registry, tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _services(guided, tmp_path, world, monkeypatch) as services:
        services.raw("raw_sector")
        services.stage("sector_daily")
        loaded = services.fuse("sector_daily")

        rows = services.warehouse.frame("fusion_sector_daily")
        assert len(rows) >= 5
        assert set(rows["date"]) == {TODAY}
        assert set(rows["src"]) == {"tencent"}
        assert rows["breadth_pct"].between(0, 100).all()
        assert loaded.results[0].rows_rejected == 0
        again = services.fuse("sector_daily").results[0]
        assert (again.rows_written, again.rows_unchanged) == (0, len(rows))


def test_its_faults_are_refused(
    guided: Registry, tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from platform_assets.pipeline.download import AllSourcesFailed

    with _services(guided, tmp_path, world, monkeypatch) as services:
        services.faults.replace([{"upstream": "tencent", "call": "sectors", "kind": "html"}])

        with pytest.raises(AllSourcesFailed):
            services.raw("raw_sector")

        assert services.warehouse.frame("raw_sector").empty


def test_its_assets_and_checks_have_words(guided: Registry) -> None:
    from platform_assets.definitions.assets import build_assets

    built = {asset.key.path[-1]: asset for asset in build_assets(guided, "mariadb")}
    asset = built["fusion_sector_daily"]
    spec = next(iter(asset.specs))

    assert spec.group_name == "companies"
    assert spec.kinds == {"pandas", "mariadb"}
    assert "Industry boards by trade date" in (spec.description or "")
    texts = {check.name: check.description for check in asset.check_specs}
    assert set(texts) == {"schema", "risen_within_members", "moves_with_its_members", "has_many_boards"}
    assert texts["risen_within_members"].startswith("Must hold: No board has more risen members")
    assert "rose without a member" in texts["moves_with_its_members"]
    assert built["raw_sector"].group_names_by_key[built["raw_sector"].key] == "companies"


def test_the_example_is_as_short_as_promised() -> None:
    assert len(DATASET.splitlines()) <= 120
