from collections.abc import Iterator

import pytest

from tests.witness.market import Market, opened


@pytest.fixture(scope="package")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    with opened(tmp_path_factory.mktemp("witness")) as made:
        yield made
