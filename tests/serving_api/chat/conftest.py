"""Markets of hand-written rows with the app in front: one for all tests of a module that only read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SQLITE_OFTEN, engine_url, mariadb_database
from tests.models_api.fake import FakeModels, fake_models
from tests.serving_api.areas.handmade import Handmade, handmade
from tests.serving_api.chat import rows
from tests.serving_api.chat.served import Served, served, with_model


def fill(made: Handmade) -> Handmade:
    for table, some in {**rows.companies(), **rows.market()}.items():
        made.put(table, some)
    return made


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handmade]:
    folder: Path = tmp_path_factory.mktemp("chat")
    urls = (
        engine_url("sqlite", folder) if request.param == "sqlite" else mariadb_database(__package__ or "chat")
    )
    for url in urls:
        with handmade(url, folder, rows.DAY) as one:
            yield fill(one)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Served without a model: the embedded default."""
    folder = tmp_path_factory.mktemp("plain")
    with served(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder) as one:
        yield one


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeModels]:
    with fake_models() as one:
        yield one


@pytest.fixture(scope="module")
def modelled(fake: FakeModels, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Served with the scripted model of `fake`."""
    folder = tmp_path_factory.mktemp("modelled")
    with served(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, **with_model(fake)) as one:
        yield one
