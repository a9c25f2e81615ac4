"""The notebooks of `docs/notebooks` run against a data folder of their own, and draw their pictures."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from ashare.main import main
from tests.benchmarks.importing import MAPPING, NOW, generate

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PICTURE = "image/png"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `data`, a platform's data folder: 24 stocks on the trade dates of four months."""
    made = tmp_path_factory.mktemp("notebooks")
    generate(made / "bars.parquet", months=4, codes=24)
    (made / "map.toml").write_text(MAPPING, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        patch.setenv("DATA_DIR", str(made / "data"))
        patch.setenv("SAMPLE_NOW", NOW)
        assert main(["import", "bars.parquet", "--map", "map.toml"]) == 0
    return made


def pictures(cells: Any) -> int:
    return sum(PICTURE in output.get("data", {}) for cell in cells for output in cell.get("outputs", []))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.soak] if path.stem == "as_of" else [])
        for path in NOTEBOOKS
    ],
)
def test_a_notebook_runs_and_draws_what_it_shows(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_NOW", NOW)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.delenv("ASHARE", raising=False)
    shown = nbformat.read(path, as_version=4)
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []

    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()

    assert pictures(book.cells) == pictures(shown.cells) >= 1
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in code if cell.source.splitlines()[-1].strip())


def test_there_are_two() -> None:
    assert len(NOTEBOOKS) == 2
