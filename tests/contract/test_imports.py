"""Imports point one way (architecture, folders)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("platform_assets", "resources", "schedules", "serving_api")

# prefix of the importing module -> prefixes of ours that it must not import
_ABOVE = ("schedules", "serving_api", "platform_assets.pipeline", "platform_assets.definitions.assets")
FORBIDDEN = {
    "platform_assets.compute": (*_ABOVE, "resources", "platform_assets.datasets", "dagster", "sqlalchemy"),
    "core.declaration": (*_ABOVE, "resources", "platform_assets.datasets", "dagster"),
    "platform_assets.datasets": (*_ABOVE, "resources.warehouse", "dagster"),
    "platform_assets.pipeline": ("schedules", "serving_api", "platform_assets.definitions.assets", "dagster"),
    "resources": _ABOVE,
    "serving_api": (
        *_ABOVE[:1],
        *_ABOVE[2:],
        "platform_assets.definitions.jobs",
        "schedules.code_location",
        "dagster",
        "numba",
    ),
}
# The error family is the one module that everybody may import.
ALLOWED = {"core.errors"}
# The one module of `resources` that wraps Dagster.
EXEMPT = {"platform_assets.definitions.resources"}


def _modules() -> list[tuple[str, Path]]:
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append((".".join(part for part in parts if part != "__init__"), path))
    return found


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
    return names


@pytest.mark.parametrize("layer", sorted(FORBIDDEN))
def test_a_layer_imports_only_what_it_may(layer: str) -> None:
    wrong = []
    for module, path in _modules():
        if module in EXEMPT or not (module == layer or module.startswith(layer + ".")):
            continue
        for name in _imports(path) - ALLOWED:
            if any(name == ban or name.startswith(ban + ".") for ban in FORBIDDEN[layer]):
                wrong.append(f"{module} imports {name}")
    assert wrong == []


def test_importing_the_api_loads_neither_dagster_nor_numba_nor_the_tool_protocol() -> None:
    code = "import sys, serving_api.app; print([m for m in ('dagster', 'numba', 'mcp') if m in sys.modules])"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert shown.stdout.strip() == "[]"


def test_only_the_transport_imports_the_http_library() -> None:
    users = [module for module, path in _modules() if any(n.split(".")[0] == "httpx" for n in _imports(path))]

    assert users == ["resources.transport.http"]
