"""The commands of README and tour are run in a shell against a started API, the make targets by name."""

import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from core.clock import FrozenClock
from resources.settings import Settings
from serving_api.app import create_app
from serving_api.auth.credentials import Passwords
from tests.conftest import require
from tests.docs.pages import ROOT, Block, blocks, everything
from tests.pipeline.conftest import opened_services
from tests.serving_api.client import running

README = ROOT / "README.md"
TOUR = ROOT / "docs/tour.md"
START = ROOT / "docs/operations/start.md"
API = ROOT / "docs/api.md"
PASSWORD = "a password of the test"
ANY = "…"


@dataclass(frozen=True)
class Step:
    """One shell block that asks the API, and the answer that is printed below it, if any."""

    commands: str
    answer: Any = None


def steps_of(page: Path) -> list[Step]:
    """The shell blocks of a page that call the API."""
    found = blocks(page)
    steps: list[Step] = []
    for place, block in enumerate(found):
        if block.language != "sh" or "curl" not in block.text:
            continue
        following = found[place + 1] if place + 1 < len(found) else Block("", "")
        steps.append(Step(block.text, json.loads(following.text) if following.language == "json" else None))
    return steps


def differs(shown: Any, real: Any, where: str = "") -> list[str]:
    """Where the shape of a real answer is not the one shown. A key `…` allows more keys; a list is compared
    by the items that are shown; null and a value are alike, and so are whole and broken numbers."""
    if isinstance(shown, dict) and isinstance(real, dict):
        kept = set(shown) - {ANY}
        found = [f"{where}.{key} is missing" for key in sorted(kept - set(real))]
        if ANY not in shown:
            found += [f"{where}.{key} is not shown" for key in sorted(set(real) - kept)]
        for key in sorted(kept & set(real)):
            found += differs(shown[key], real[key], f"{where}.{key}")
        return found
    if isinstance(shown, list) and isinstance(real, list):
        if len(real) < len(shown):
            return [f"{where}: {len(real)} items, {len(shown)} are shown"]
        return [one for a, b in zip(shown, real, strict=False) for one in differs(a, b, f"{where}[]")]
    numbers = (int, float)
    alike = type(shown) is type(real) or None in (shown, real)
    alike = alike or (isinstance(shown, numbers) and isinstance(real, numbers))
    return [] if alike else [f"{where}: {type(real).__name__}, {type(shown).__name__} is shown"]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """(address, working folder) of an API over one loaded day, as after `make run`."""
    from simulated_market.world.loader import load_world

    require("curl", shutil.which("curl") is not None, "PATH")
    folder = tmp_path_factory.mktemp("readme")
    data = folder / "data"
    (data / "secrets").mkdir(parents=True)
    (data / "secrets/admin_password").write_text(PASSWORD + "\n", encoding="utf-8")
    url = f"sqlite:///{data / 'warehouse.sqlite3'}"
    with opened_services(url, data, load_world("synthetic", "S")) as services:
        dates = services.run.calendar.last(31, "2026-08-21")
        for name in ("exright", "kline_daily"):
            services.fuse(name, *dates[:-1])
        services.fresh()
        services.day()
        settings = Settings(
            data_source="mock",
            sample_state="calm",
            data_dir=str(data),
            warehouse_url=url,
            admin_seed_password=PASSWORD,
            simulator_url=services.settings.simulator_url,
            simulator_tdx=services.settings.simulator_tdx,
        )
        app = create_app(
            settings, clock=FrozenClock(services.clock.now()), passwords=Passwords(iterations=10)
        )
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        patience = time.monotonic() + 20
        while not server.started and time.monotonic() < patience:
            time.sleep(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"127.0.0.1:{port}", folder
        server.should_exit = True
        thread.join(timeout=10)


@pytest.mark.parametrize(("page", "answers"), [(README, 1), (TOUR, 5), (START, 1), (API, 1)])
def test_the_api_answers_as_the_page_shows(page: Path, answers: int, started: tuple[str, Path]) -> None:
    address, folder = started
    steps = steps_of(page)
    mark = "=== next block ==="
    script = "set -euo pipefail\n" + "\n".join(f"{step.commands}\necho\necho '{mark}'" for step in steps)

    ran = subprocess.run(
        ["bash", "-c", script.replace("127.0.0.1:8000", address)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr + ran.stdout[-500:]
    texts = [text.strip() for text in ran.stdout.split(mark)][: len(steps)]
    assert sum(step.answer is not None for step in steps) >= answers
    for step, text in zip(steps, texts, strict=True):
        if step.answer is None:
            assert text == "", step.commands
        else:
            assert differs(step.answer, json.loads(text)) == [], step.commands


@pytest.mark.parametrize("page", [README, ROOT / "docs/research.md"])
def test_the_snippet_of_a_data_folder_prints_bars(page: Path, started: tuple[str, Path]) -> None:
    _, folder = started
    found = blocks(page)
    place = next(at for at, one in enumerate(found) if one.language == "python" and '"data"' in one.text)

    ran = subprocess.run(
        [sys.executable, "-c", found[place].text],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    shown, printed = found[place + 1].text.splitlines(), ran.stdout.splitlines()
    assert printed[0].split() == shown[0].split()
    assert len(printed) == len(shown)


def test_freshness_is_shown_as_a_new_installation_of_that_date_tells_it(tmp_path: Path) -> None:
    """Values, not the shape alone: bars of the newest session are fresh, the newest dividend plan is months
    old. Tables that are not loaded here are late as well, so others may be."""
    from simulated_market.world.loader import load_world

    steps = steps_of(TOUR)
    (shown,) = [step.answer["results"] for step in steps if "/datamgr/stats/freshness" in step.commands]
    bars = shown["details"]["fusion_kline_daily"]
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    with opened_services(url, tmp_path, load_world("synthetic", "S"), today=bars["latestDate"]) as house:
        dates = house.run.calendar.last(80, bars["latestDate"])
        house.fuse("exright", *dates[-2:])
        house.fuse("kline_daily", *dates[-2:])
        house.raw("raw_dividend", *dates)
        house.stage("dividend", *dates)
        house.fuse("dividend", *dates)
        settings = Settings(data_dir=str(tmp_path), warehouse_url=url, admin_seed_password=PASSWORD)
        app = create_app(settings, clock=FrozenClock(house.clock.now()), passwords=Passwords(iterations=10))
        with running(app) as api:
            login = api.post("/auth/login", json={"username": "admin", "password": PASSWORD})
            bearer = {"Authorization": f"Bearer {login.json()['access_token']}"}
            told = api.get("/datamgr/stats/freshness", headers=bearer).json()["results"]

    assert told["isFresh"] is shown["isFresh"]
    assert told["details"]["fusion_kline_daily"] == bars
    assert "fusion_kline_daily" not in told["staleDimensions"]
    late = set(shown["staleDimensions"]) - {ANY}
    assert late
    assert late <= set(told["staleDimensions"])
    newest, today = (
        told["details"][name]["latestDate"] for name in ("fusion_dividend", "fusion_kline_daily")
    )
    assert date.fromisoformat(today) - date.fromisoformat(newest) > timedelta(days=60)


def test_a_shape_that_changed_is_seen() -> None:
    shown = {"a": 1, "b": [{"c": "x"}]}

    assert differs(shown, {"a": 2.5, "b": [{"c": None}, {"c": "y"}]}) == []
    assert differs(shown, {"a": "2", "b": []}) == [".a: str, int is shown", ".b: 0 items, 1 are shown"]
    assert differs(shown, {"b": [{"c": "x", "d": 1}]}) == [".a is missing", ".b[].d is not shown"]
    assert differs({"…": "…"}, {"a": 1}) == []


def test_every_make_target_of_the_pages_exists_and_is_listed_by_help() -> None:
    text = everything()
    named = set(re.findall(r"`(?:\w+=\S+ )*make ([a-z-]+)`", text)) | set(
        re.findall(r"^(?:\w+=\S+ )*make ([a-z-]+)$", text, re.MULTILINE)
    )
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    helped = set(re.findall(r'"make ([a-z-]+) ', makefile))

    assert sorted(named - rules) == []
    assert sorted(rules - named - {"help"}) == []
    assert sorted(rules - helped - {"help", "clean"}) == []


def test_ci_runs_the_test_command_of_the_readme() -> None:
    shown = [block.text.strip() for block in blocks(README) if block.language == "sh"]

    commands = {line for text in shown for line in text.splitlines()}
    assert commands >= {"make test", "make test-all", "make run"}
    assert (ROOT / ".ci/run").read_text(encoding="utf-8").strip().endswith("exec make test-all")


def test_python_modules_named_by_make_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for name in re.findall(
        r"-m ((?:platform_assets|resources|schedules|serving_api|simulated_market|tests)[\w.]*)", makefile
    ):
        path = ROOT / name.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), name
