"""Tables and columns that statements name are declared."""

import ast
from collections.abc import Iterator
from pathlib import Path

from core.declaration.registry import builtin_registry
from resources.warehouse.system_tables import INFRA_TABLES, SYSTEM_TABLES

ROOT = Path(__file__).parents[2]
FILES = [path for package in ("resources", "serving_api") for path in (ROOT / package).rglob("*.py")]
TABLES = {table.name: table for table in (*SYSTEM_TABLES, *INFRA_TABLES, *builtin_registry().tables)}
MODELS = {
    declared.table_name: declared.model.__name__
    for dataset in builtin_registry().datasets.values()
    for declared in (dataset, *dataset.raw)
    if declared.model is not None
}


def stored(tree: ast.Module) -> Iterator[tuple[str, str, str | None]]:
    """(constant, table, model) of `CONSTANT = stored("table", Model)`."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id)], value=ast.Call(func=ast.Name("stored"), args=args)):
                name, *model = args
                assert isinstance(name, ast.Constant)
                yield id, str(name.value), ast.unparse(model[0]) if model else None


def unknown(path: Path) -> Iterator[str]:
    """Tables, models and columns of a file that are not declared."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tables = {}
    for constant, name, model in stored(tree):
        if name not in TABLES or (model is not None and model.removeprefix("Stored") != MODELS.get(name)):
            yield f"{path.name}: {constant} = {name}, {model}"
        else:
            tables[constant] = TABLES[name]
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.Module | ast.FunctionDef):
            continue
        short = {
            target.id: tables[constant]
            for node in scope.body
            if isinstance(node, ast.Assign)
            and (constant := ast.unparse(node.value).removesuffix(".c")) in tables
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(scope):
            match node:
                case ast.Attribute(ast.Attribute(ast.Name(id), "c"), column) if id in tables:
                    table = tables[id]
                case ast.Attribute(ast.Name(id), column) if id in short and column != "c":
                    table = short[id]
                case _:
                    continue
            if column not in table.names:
                yield f"{path.name}: {table.name}.{column}"


def test_stored_tables_and_their_columns_are_declared() -> None:
    assert [name for path in FILES for name in unknown(path)] == []


def test_an_unknown_column_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "queries.py"
    path.write_text(
        'LOG = stored("sys_batch")\ndef f():\n    c = LOG.c\n    return LOG.c.runid, c.status, c.stat\n'
    )
    assert sorted({*unknown(path)}) == ["queries.py: sys_batch.runid", "queries.py: sys_batch.stat"]
