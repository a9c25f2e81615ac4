"""Architecture says which file answers a URL, holds a table and writes a log line; the code agrees."""

import ast
import re
from collections.abc import Iterator

import pytest

from core.declaration.registry import builtin_registry
from resources.settings import Settings
from resources.warehouse.system_tables import INFRA_TABLES, SYSTEM_TABLES
from serving_api.app import create_app
from serving_api.framework.envelope import PREFIX
from tests.docs.pages import ROOT, pages

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PACKAGES = ("ashare", "core", "platform_assets", "resources", "schedules", "serving_api", "simulated_market")


def section(heading: str) -> str:
    """The text below a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def rows(heading: str) -> list[list[str]]:
    """The cells of a section's first table, without its head."""
    lines = [line for line in section(heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def code_names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


URLS = {
    tuple(url.strip("/").split("/")): code_names(code)
    for urls, code in rows("Where to find the code of a URL")
    for url in code_names(urls)
}


def code_of(path: str) -> list[str]:
    """The code that the table names for a path: of its longest row, a literal before a parameter."""
    parts = path.removeprefix(PREFIX).strip("/").split("/")
    fitting = [
        url
        for url in URLS
        if len(url) <= len(parts)
        and all(a == b or a.startswith("{") for a, b in zip(url, parts, strict=False))
    ]
    assert fitting, f"no row for {path}"
    return URLS[max(fitting, key=lambda url: (len(url), sum(not part.startswith("{") for part in url)))]


def routes() -> Iterator[tuple[str, str]]:
    """(path, file of the endpoint) of every route."""
    for route in create_app(Settings(data_source="mock")).routes:
        endpoint = getattr(route, "endpoint", None)
        if endpoint is not None and endpoint.__module__.startswith("serving_api."):
            yield str(getattr(route, "path", "")), endpoint.__module__.replace(".", "/") + ".py"


def test_every_url_leads_to_the_file_that_answers_it() -> None:
    wrong = [
        f"{path}: {code_of(path)}, but {file}"
        for path, file in routes()
        if not any(file.startswith(f"serving_api/{code}") for code in code_of(path))
    ]

    assert wrong == []


def test_every_row_of_the_table_of_urls_answers_something() -> None:
    used = [code_of(path) for path, _ in routes()]

    assert [url for url, code in URLS.items() if code not in used] == []


@pytest.mark.parametrize(
    "heading",
    ["Folders", "Where to find the code of a URL", "Where to find the code of a table"],
)
def test_every_path_of_the_page_exists(heading: str) -> None:
    named = [name for name in code_names(section(heading)) if re.fullmatch(r"[\w/]+/(\w+\.py)?", name)]
    places = [
        ROOT,
        ROOT / "serving_api",
        ROOT / "resources/warehouse",
        ROOT / "resources/warehouse/ledger",
        ROOT / "resources/upstreams",
        ROOT / "platform_assets/compute",
    ]

    assert named
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_every_source_file_that_a_page_or_a_module_names_exists() -> None:
    """By its full path, or by its last parts (`world/accounts.py`). The guide names files that its reader
    writes."""
    modules = [path for package in (*PACKAGES, "tests") for path in sorted((ROOT / package).rglob("*.py"))]
    files = [f"/{path.relative_to(ROOT)}" for path in modules]
    product = [path for path in modules if ROOT / "tests" not in path.parents]
    written = [page for page in (*ROOT.glob("*.md"), *pages()) if page.name != "adding-a-dataset.md"]
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in dict.fromkeys((*written, *product))
        for name in re.findall(r"`([\w/]+\.py)`", path.read_text(encoding="utf-8"))
        if not any(file.endswith(f"/{name}") for file in files)
    ]

    assert missing == []


def test_every_table_is_named_with_the_code_that_writes_it() -> None:
    named = code_names(section("Where to find the code of a table"))
    listed = (ROOT / "docs/datasets/README.md").read_text(encoding="utf-8")

    system = [table.name for table in (*SYSTEM_TABLES, *INFRA_TABLES)]
    assert [name for name in system if name not in named] == []
    declared = [table.name for table in builtin_registry().tables]
    assert [name for name in declared if f"`{name}`" not in listed] == []
    assert [name for name in declared if name.startswith("sys_")] == []


def test_every_logger_that_is_not_named_after_its_module_is_listed() -> None:
    listed = set(code_names(section("Where to find the code of a log line")))
    found = set()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("getLogger") and node.args:
                    name = node.args[0]
                    if isinstance(name, ast.Constant):
                        found.add(str(name.value))

    assert sorted(found - listed) == []
