"""Reference pages read from the code: the words of a declaration, and the calls of the upstream clients."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from core.declaration import columns, dataset, interfaces, rules, scope
from platform_assets.documentation.blocks import cell, table
from resources.upstreams import fetch_context
from resources.upstreams.parsing.rows import Table
from resources.upstreams.wire_format_evidence import CLASSES as KINDS
from resources.upstreams.wire_format_evidence import columns as named_columns
from resources.upstreams.wire_format_evidence import evidence

CLASSES: tuple[tuple[str, type], ...] = (
    ("A dataset file's `DATASET`", dataset.Dataset),
    ("A RAW table and its downloader", dataset.Raw),
    ("One source", dataset.Source),
    ("Fusion by row", rules.Rows),
    ("Fusion by column", rules.Fields),
    ("A check that only warns", rules.Soft),
    ("A check of the sources' answers", rules.Contract),
    ("A check of a whole partition", rules.Whole),
    ("Freshness", rules.Freshness),
    ("An interface of the catalog", interfaces.Interface),
    ("What a piece of work is about", scope.Scope),
    ("What staging, derivation and checks may look at", scope.Context),
)
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    columns.col,
    columns.key,
    columns.received,
    columns.with_columns,
    rules.trading,
    rules.calendar_days,
    rules.period,
    rules.close_of,
    rules.at_time,
    rules.next_trade_date,
    interfaces.latest,
    interfaces.batch,
    interfaces.history,
    interfaces.by_date,
    interfaces.Interface.takes,
    interfaces.standard,
    fetch_context.current_session,
    fetch_context.within_last,
)
_EXCHANGES = ("sse", "szse", "bse")
"""Clients that share a package."""
_CLIENTS = tuple(
    (key, "resources.upstreams.exchanges", f"{key.capitalize()}Client", key)
    if key in _EXCHANGES
    else (key, f"resources.upstreams.{key}", f"{key.title().replace('_', '')}Client", "client")
    for key in (
        *("tencent", "eastmoney", "cninfo", *_EXCHANGES, "ths", "csindex", "cnindex", "sw", "futures"),
        *("hkex", "chinabond", "chinamoney", "sina", "cls", "xueqiu", "tdx", "tdx_packages"),
    )
)
"""(key in the fetch context, package, class, module) of each client."""


def vocabulary() -> str:
    """Every word of `core.declaration`, of the fetch context and of the calendar."""
    parts = [
        "# Vocabulary of a dataset file",
        "The reference to [Adding a dataset](adding-a-dataset.md), read from the code.",
        "## Column words\n\nFrom `core.declaration.columns`.\n\n" + _words(),
        "## Functions",
        *(_function(one) for one in FUNCTIONS),
        "## Declarations",
        *(_class(title, kind) for title, kind in CLASSES),
        "### `Partition`: how a dataset is cut in time\n\n"
        + table(("word", "value"), [(f"`Partition.{p.name}`", f"`{p.value}`") for p in rules.Partition]),
        "## The fetch context\n\n"
        + _doc(fetch_context.FetchContext)
        + "\n\n"
        + _methods(fetch_context.FetchContext),
        "## The calendar (`ctx.calendar`, `context.calendar`)\n\n" + _methods(scope.Calendar),
    ]
    return "\n\n".join(parts) + "\n"


def client_calls() -> str:
    """Public methods of the upstream clients and the columns of their frames."""
    parts = [
        "# Calls of the upstream clients",
        f"What a `fetch` function can ask: {', '.join(f'`ctx.{key}`' for key, *_ in _CLIENTS)}. "
        "Frames have their columns also without a row; units are those of the data dictionary (prices CNY, "
        "volumes shares, amounts CNY, caps 10,000 CNY, `*_pct` percent). Read from the code.",
    ]
    for key, package, name, module in _CLIENTS:
        client = getattr(import_module(f"{package}.{module}"), name)
        parts += [
            f"## `ctx.{key}`",
            _doc(client),
            _methods(client),
            "### Evidence",
            _evidence(key),
            *([_column_evidence()] if key == "eastmoney" else []),
            "### Columns",
            _schemas(package),
        ]
    return "\n\n".join(parts) + "\n"


def _evidence(upstream: str) -> str:
    """What speaks for the format of each call."""
    rows = [
        (f"`{one.call.partition('.')[2]}`", one.kind, cell(one.where or one.witness), cell(one.reads))
        for one in evidence().values()
        if one.call.partition(".")[0] == upstream
    ]
    return table(("call", "evidence", "recording or client", "fields"), rows)


def _column_evidence() -> str:
    """What speaks for the columns that are asked for by name, report by report."""
    rows = []
    for report in dict.fromkeys(one.report for one in named_columns()):
        reported = [one for one in named_columns() if one.report == report]
        shown = (", ".join(f"`{one.column}`" for one in reported if one.kind == kind) for kind in KINDS)
        rows.append((f"`{report}`", *shown))
    return (
        "Columns of reports of the data centre, from `resources/data/evidence_columns.csv`: every one "
        "that is asked for by name is here (one unknown name costs the whole answer), and some of those "
        "that are read from reports which are asked for all of their columns.\n\n"
        + table(("report", *KINDS), rows)
    )


def _words() -> str:
    rows = []
    for name, word in vars(columns).items():
        if inspect.isclass(word) and issubclass(word, columns.ColumnType) and word is not columns.ColumnType:
            size = f"{word.length} characters" if word.length else ""
            scale = f"{word.scale} decimals" if word.scale is not None else ""
            rows.append((f"`{name}`", word.sql, word.family, size or scale))
    return table(("word", "type", "family", "size"), rows)


def _doc(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def _function(function: Callable[..., Any]) -> str:
    name = function.__name__
    return f"### `{name}`\n\n`{_signature(name, function)}`\n\n{_doc(function)}".rstrip()


def _class(title: str, kind: type) -> str:
    return f"### `{kind.__name__}`: {title}\n\n{_doc(kind)}\n\n{_fields(kind)}"


def _fields(kind: type) -> str:
    """Fields with type, default and the text that stands below them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    rows = []
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for place, line in enumerate(statements):
        if not isinstance(line, ast.AnnAssign):
            continue
        following = statements[place + 1] if place + 1 < len(statements) else None
        about = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            about = " ".join(str(following.value.value).split())
        default = "required" if line.value is None else f"`{cell(_default(line.value))}`"
        rows.append(
            (f"`{ast.unparse(line.target)}`", f"`{cell(ast.unparse(line.annotation))}`", default, cell(about))
        )
    return table(("field", "type", "default", "meaning"), rows)


def _default(value: ast.expr) -> str:
    text = ast.unparse(value)
    return {"field(default_factory=dict)": "{}", "field(default_factory=Rows)": "Rows()"}.get(text, text)


def _methods(kind: type) -> str:
    rows = []
    # What a class inherits is called on it as well; its own calls come first.
    members = {name: member for base in kind.__mro__[:-1] for name, member in vars(base).items()}
    for name, member in members.items():
        if name.startswith("_") or name in {"close", "view", "new_run", "with_fetches"}:
            continue
        if isinstance(member, property):
            rows.append((f"`{name}`", _cell_doc(member.fget)))
        elif inspect.isfunction(member):
            rows.append((f"`{cell(_signature(name, member))}`", _cell_doc(member)))
        elif hasattr(member, "__get__"):  # a client of `FetchContext`
            rows.append((f"`{name}`", ""))
    return table(("call", "answer"), rows)


def _signature(name: str, function: Callable[..., Any]) -> str:
    """`name(arguments) -> type` as the source has it, without `self`."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(node, ast.FunctionDef):
        raise TypeError(f"{name} is no function")
    node.args.args = [one for one in node.args.args if one.arg != "self"]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    text = f"{name}({ast.unparse(node.args)}){returns}"
    return text.replace("'pd.DataFrame'", "DataFrame").replace("pd.DataFrame", "DataFrame")


def _cell_doc(member: Any) -> str:
    return cell(" ".join(_doc(member).split())) if member is not None else ""


def _schemas(package: str) -> str:
    rows = []
    for info in walk_packages(import_module(package).__path__, f"{package}."):
        module_name, module = info.name.removeprefix(f"{package}."), import_module(info.name)
        own = _assigned(module)
        for name, value in vars(module).items():
            columns = value.columns if isinstance(value, Table) else value
            named = columns is not value or name.endswith(("COLUMNS", "SCHEMA"))
            if name not in own or not named or not _is_schema(columns):
                continue
            rows.append((f"`{module_name}.{name}`", ", ".join(f"`{one}`" for one in columns)))
        schema = getattr(module, "schema", None)
        if inspect.isfunction(schema) and schema.__module__ == module.__name__ and _needs_nothing(schema):
            rows.append((f"`{module_name}.schema()`", ", ".join(f"`{one}`" for one in schema())))
    return table(("schema", "columns"), rows)


def _needs_nothing(function: Callable[..., Any]) -> bool:
    return all(one.default is not one.empty for one in inspect.signature(function).parameters.values())


def _assigned(module: ModuleType) -> set[str]:
    """Public names that the module itself assigns, as opposed to imports."""
    found = set()
    for line in ast.parse(inspect.getsource(module)).body:
        targets = [line.target] if isinstance(line, ast.AnnAssign) else getattr(line, "targets", [])
        found |= {one.id for one in targets if isinstance(one, ast.Name) and not one.id.startswith("_")}
    return found


def _is_schema(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, str) for one in value)
