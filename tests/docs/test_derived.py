"""What derives from the code is up to date, and nothing that a reader looks for is missing."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from core import errors
from core.declaration import columns, dataset, rules
from core.declaration.registry import builtin_registry
from core.errors import DeclarationError
from platform_assets.documentation.pages import expected, filled, stale, write
from platform_assets.documentation.vocabulary import CLASSES
from platform_assets.task_table import TASKS
from resources.settings import Settings
from resources.upstreams.fetch_context import FetchContext
from simulated_market.faults import KINDS
from simulated_market.registry import responders
from tests.docs.pages import ROOT, anchors, everything, links, pages


def missing(names: list[str], text: str) -> list[str]:
    return [name for name in names if f"`{name}" not in text and name not in text.split()]


def test_derived_pages_are_up_to_date() -> None:
    assert [str(path.relative_to(ROOT)) for path in stale()] == [], "run `make docs`"


def test_a_stale_page_is_named_and_mended_and_a_page_without_dataset_goes(tmp_path: Path) -> None:
    for path, text in expected().items():
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    (tmp_path / "docs/datasets/gone.md").write_text("# gone", encoding="utf-8")
    page = tmp_path / "docs/datasets/exright.md"
    page.write_text("by hand", encoding="utf-8")

    changed = write(tmp_path)

    assert {path.name for path in changed} == {"gone.md", "exright.md"}
    assert not (tmp_path / "docs/datasets/gone.md").exists()
    assert "ex-date" in page.read_text(encoding="utf-8")
    assert stale(tmp_path) == []


def test_an_unknown_block_is_named() -> None:
    with pytest.raises(DeclarationError, match="nonsense"):
        filled("<!-- derived: nonsense -->\n<!-- end -->", "page.md")


def test_every_setting_has_its_row_with_its_default() -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    cells = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    rows = {cell[1].strip(): cell[2].strip() for cell in cells}

    for row in dataclasses.fields(Settings):
        if row.name == "explicit":
            continue
        shown = rows.pop(f"`{row.name.upper()}`")
        if row.metadata["secret"]:
            assert shown == "(secret, empty)"
        elif row.default == "":
            assert shown == "(empty)"
        else:
            assert shown == f"`{str(row.default).lower() if isinstance(row.default, bool) else row.default}`"


def test_every_task_dataset_table_error_and_fault_is_documented() -> None:
    text = everything()

    assert missing([task.key for task in TASKS], text) == []
    assert missing([table.name for table in builtin_registry().tables], text) == []
    assert missing(sorted(KINDS), text) == []
    family = [name for name, kind in vars(errors).items() if isinstance(kind, type)]
    assert missing(family, text) == []
    for name in builtin_registry().datasets:
        assert (ROOT / f"docs/datasets/{name}.md").exists(), name


def test_every_route_and_area_is_documented() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "serving_api.openapi"], capture_output=True, check=True, cwd=ROOT
    )
    document = json.loads(shown.stdout)
    api = (ROOT / "docs/api.md").read_text(encoding="utf-8")

    routes = [f"{m.upper()} {path}" for path, operations in document["paths"].items() for m in operations]
    areas = {op["tags"][0] for operations in document["paths"].values() for op in operations.values()}

    assert [route for route in routes if f"`{route}`" not in api] == []
    assert [area for area in areas if f"| {area} |" not in api] == []


def test_every_simulated_route_is_documented() -> None:
    text = (ROOT / "docs/simulated-market.md").read_text(encoding="utf-8")

    calls = [(one.upstream, route.call) for one in responders() for route in one.routes]

    assert [pair for pair in calls if f"| `{pair[0]}` | `{pair[1]}` |" not in text] == []


def test_the_guide_explains_every_word_of_a_declaration() -> None:
    guide = (ROOT / "docs/adding-a-dataset.md").read_text(encoding="utf-8")
    reference = (ROOT / "docs/vocabulary.md").read_text(encoding="utf-8")

    words = [f.name for kind in (dataset.Dataset, dataset.Raw) for f in dataclasses.fields(kind)]
    words += [f.name for kind in (rules.Rows, rules.Fields) for f in dataclasses.fields(kind)]
    words += [f"Partition.{one.name}" for one in rules.Partition]
    words += [
        "Soft",
        "Contract",
        "Whole",
        "Source",
        "Interface",
        "computed",
        "no_source",
        "nullable",
        "received",
    ]
    words += ["trading", "calendar_days", "period", "close_of", "latest", "batch", "history", "by_date"]
    types = [
        name
        for name, word in vars(columns).items()
        if isinstance(word, type) and issubclass(word, columns.ColumnType) and word is not columns.ColumnType
    ]

    assert [word for word in words if word not in guide] == []
    assert missing(types, reference) == []
    assert missing([kind.__name__ for _, kind in CLASSES], reference) == []


def test_the_guide_explains_the_fetch_context() -> None:
    guide = (ROOT / "docs/adding-a-dataset.md").read_text(encoding="utf-8")
    inner = {"begin_source", "close", "view", "new_run", "take_reused", "of_watched"}

    calls = [name for name in vars(FetchContext) if not name.startswith("_") and name not in inner]

    assert [name for name in calls if f"ctx.{name}" not in guide] == []


def test_links_lead_somewhere() -> None:
    broken = []
    for page in pages():
        for target in links(page):
            if target.startswith(("http://", "https://")):
                continue
            file, _, anchor = target.partition("#")
            goal = (page.parent / file).resolve() if file else page
            if not goal.exists() or (anchor and goal.suffix == ".md" and anchor not in anchors(goal)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_pictures_are_small() -> None:
    pictures = [path for path in (ROOT / "docs").rglob("*") if path.suffix in {".png", ".jpg", ".svg"}]

    assert sum(path.stat().st_size for path in pictures) <= 300_000
