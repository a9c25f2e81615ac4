"""Makes the source tree of the distribution `ashare-client`, whose one top-level name is `ashare`.

    python client_wheel/assemble.py build/client

The tree holds the client and, below `ashare/_platform`, the modules of the platform that it imports, with
their imports renamed to there. They are found by following the imports; what belongs to a running platform
(`NOT_OF_THE_CLIENT`) is left out, and the client says so where it would need it. See decision 0030.
"""

import ast
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
OWN = ("core", "platform_assets", "resources")
"""Packages that move below `BELOW`."""
BELOW = "ashare._platform"
NOT_OF_THE_CLIENT = ("ashare.session", "schedules", "serving_api", "simulated_market")
STARTS = ("ashare", "ashare.client", "platform_assets.datasets")
"""Packages whose modules are all taken: datasets are found by their folder, not by imports."""


def file_of(module: str) -> Path | None:
    """The file of a module of the project; None for what is none (a name within one)."""
    path = ROOT.joinpath(*module.split("."))
    return next((one for one in (path / "__init__.py", path.with_suffix(".py")) if one.is_file()), None)


def imported(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def names_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that an import may mean."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    module = node.module or ""
    return [module, *(f"{module}.{one.name}" for one in node.names)]


def modules() -> dict[str, Path]:
    """Every module of the distribution, by its name in the project."""
    todo = list(STARTS)
    for package in STARTS[1:]:
        todo += [f"{package}.{file.stem}" for file in ROOT.joinpath(*package.split(".")).glob("*.py")]
    found: dict[str, Path] = {}
    while todo:
        name = todo.pop()
        file = file_of(name)
        left_out = any(name == one or name.startswith(f"{one}.") for one in NOT_OF_THE_CLIENT)
        if name in found or file is None or left_out or name.partition(".")[0] not in (*OWN, "ashare"):
            continue
        found[name] = file
        todo += [name.rpartition(".")[0]] if "." in name else []
        todo += [
            one for node in imported(ast.parse(file.read_text(encoding="utf-8"))) for one in names_of(node)
        ]
    return found


def renamed(text: str, name: str) -> str:
    """The text of a module with its imports of the platform's packages renamed."""
    lines = text.splitlines(keepends=True)
    for node in imported(ast.parse(text)):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        mine = [one for one in names if one.partition(".")[0] in OWN]
        if not mine:
            continue
        if isinstance(node, ast.Import) and not (len(names) == 1 and node.names[0].asname):
            raise SystemExit(
                f"{name}: `import {mine[0]}` cannot be renamed; import from it, or give it a name"
            )
        line = lines[node.lineno - 1]
        word = "import" if isinstance(node, ast.Import) else "from"
        before, given = line[: node.col_offset], line[node.col_offset :]
        lines[node.lineno - 1] = before + given.replace(f"{word} {mine[0]}", f"{word} {BELOW}.{mine[0]}", 1)
    return "".join(lines)


def assemble(target: Path) -> None:
    """Write the tree into a new folder."""
    place = target.joinpath(*BELOW.split("."))
    for name, file in modules().items():
        home = target if name.partition(".")[0] == "ashare" else place
        written = home / file.relative_to(ROOT)
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(renamed(file.read_text(encoding="utf-8"), name), encoding="utf-8")
    (place / "__init__.py").write_text('"""Modules of the platform that the client is made of."""\n')
    shutil.copytree(ROOT / "core" / "data", place / "core" / "data", dirs_exist_ok=True)
    shutil.copy(ROOT / "ashare" / "py.typed", target / "ashare" / "py.typed")
    shutil.copy(ROOT / "LICENSE", target / "LICENSE")
    shutil.copy(ROOT / "docs" / "research.md", target / "README.md")
    shutil.copy(Path(__file__).with_name("pyproject.toml"), target / "pyproject.toml")


if __name__ == "__main__":
    assemble(Path(sys.argv[1]))
