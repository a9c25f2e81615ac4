"""Where the code returns nothing: no rows, no list, no mapping, or None in place of them."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("resources/upstreams", "platform_assets/datasets", "platform_assets/pipeline")
_ROWS = ("DataFrame", "list[", "dict[", "Mapping", "Sequence", "Table", "Part", "Series")


def places() -> Counter[str]:
    """`file: function` -> how often it returns nothing."""
    found: Counter[str] = Counter()
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*.py")):
            for name, function in _functions(ast.parse(path.read_text(encoding="utf-8")), ""):
                returned = ast.unparse(function.returns) if function.returns else ""
                count = sum(_is_nothing(one.value, returned) for one in _returns(function))
                if count:
                    found[f"{path}: {name}"] += count
    return found


def _functions(node: ast.AST, outer: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield f"{outer}{child.name}", child
            yield from _functions(child, f"{outer}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{outer}{child.name}.")
        else:
            yield from _functions(child, outer)


def _returns(function: ast.FunctionDef) -> Iterator[ast.Return]:
    """Its own, without those of functions inside."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            todo += list(ast.iter_child_nodes(node))


def _is_nothing(value: ast.expr | None, returned: str) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_nothing(value.body, returned) or _is_nothing(value.orelse, returned)
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return not value.elts and returned != "tuple[()]"
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.Constant):
        return value.value is None and any(word in returned for word in _ROWS)
    if isinstance(value, ast.Subscript):
        return ast.unparse(value).endswith("iloc[:0]")
    if isinstance(value, ast.Call):
        return _makes_nothing(value)
    return False


def _makes_nothing(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name == "pd.DataFrame":
        return not call.args and all(one.arg == "columns" for one in call.keywords)
    if name in ("frame", "numbers") and call.args:
        return isinstance(call.args[0], ast.List) and not call.args[0].elts
    return name == "empty_frame"
