"""Tables inside hand-written pages: settings, tasks, errors, upstream addresses, faults, routes."""

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from core import errors
from core.declaration.registry import builtin_registry
from platform_assets.source_calls import risks
from platform_assets.task_table import TASKS
from resources.settings import Settings
from resources.transport.settings import TransportSettings
from resources.upstreams.hosts import SITES
from resources.upstreams.wire_format_evidence import CLASSES, counts
from simulated_market import faults
from simulated_market.registry import responders


def cell(text: object) -> str:
    """Text that does not break a table."""
    return str(text).replace("|", "\\|").replace("\n", " ").strip()


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table. Cells are taken as they are, apart from `|` outside code, see `cell`."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def settings() -> str:
    """Every environment variable with its default."""
    rows = []
    for row in fields(Settings):
        if row.name == "explicit":
            continue
        default = "(secret, empty)" if row.metadata["secret"] else _shown(row.default)
        where = "also `PUT /datamgr/config`" if row.metadata["stored"] else ""
        note = "; ".join(part for part in (row.metadata["note"], where) if part)
        rows.append((f"`{row.name.upper()}`", default, cell(note)))
    return table(("variable", "default", "meaning"), rows)


def _shown(value: Any) -> str:
    if value == "":
        return "(empty)"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def tasks() -> str:
    """The task table as the code declares it."""
    rows = []
    for task in TASKS:
        after = ", ".join(f"`{key}`" for key in task.after)
        locks = ", ".join(task.domains)
        rows.append((f"`{task.key}`", task.name, task.timing.described, locks, after, cell(task.note)))
    return table(("task", "name", "time", "locks", "after", "note"), rows)


def table_files() -> str:
    """Dataset files with those of their tables that have another name than the file."""
    rows = []
    for dataset in builtin_registry().datasets.values():
        usual = {f"{layer}_{dataset.name}" for layer in ("raw", "stg", "fusion", "ref", "calc")}
        others = [f"`{table.name}`" for table in dataset.all_tables if table.name not in usual]
        if others:
            rows.append((", ".join(others), f"`platform_assets/datasets/{dataset.name}.py`"))
    return table(("tables", "file"), sorted(rows))


def error_classes() -> str:
    """The error family: class, its base, what it means."""
    rows = []
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.PlatformError):
            base = kind.__bases__[0].__name__
            about = " ".join((kind.__doc__ or "").split())
            rows.append((f"`{name}`", "" if base == "Exception" else f"`{base}`", cell(about)))
    return table(("class", "is a", "meaning"), rows)


def sites() -> str:
    """Addresses of the upstreams, in the order of fail-over."""
    rows = [
        (f"`{key}`", site.upstream, ", ".join(host.removeprefix("https://") for host in site.real))
        for key, site in SITES.items()
    ]
    return table(("site", "upstream", "hosts"), rows)


def pacing() -> str:
    """Spacing and breaker of each pacing family."""
    numbers = TransportSettings()
    rows = []
    for family in sorted({site.family for site in SITES.values()} | {"tdx"}):
        rule = numbers.family(family)
        pause = f"{rule.gap:g} s"
        if rule.jitter_max:
            pause += f" + {rule.jitter_min:g}..{rule.jitter_max:g} s"
        breaker = rule.breaker
        guard = "none: hosts cool down one by one"
        if breaker is not None:
            guard = f"`{breaker.name}`: {breaker.threshold} failures, {breaker.cooldown_sec:g} s"
        rows.append((f"`{family}`", pause if rule.gap or rule.jitter_max else "no pause", guard))
    return table(("family", "between two calls", "breaker"), rows)


def fault_kinds() -> str:
    """Every fault with the words of its line in `faults.py`."""
    rows = []
    for line in inspect.getsource(faults).splitlines():
        text, _, about = line.strip().partition("#")
        if text.startswith('"') and about:
            name = ast.literal_eval(text.strip().rstrip(","))
            if name in faults.KINDS:
                rows.append((f"`{name}`", cell(about)))
    return table(("kind", "what it does"), rows)


def simulated_routes() -> str:
    """What the simulated market's HTTP port answers."""
    rows = [
        (f"`{responder.upstream}`", f"`{route.call}`", f"`{cell(route.pattern.pattern)}`")
        for responder in responders()
        for route in responder.routes
    ]
    return table(("upstream", "call", "path"), rows)


@cache
def routes() -> str:
    """The route table, read from the OpenAPI document."""
    shown = subprocess.run(
        [sys.executable, "-m", "serving_api.openapi"], capture_output=True, check=True, timeout=120
    )
    document = json.loads(shown.stdout)
    rows = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            names = ", ".join(f"`{item['name']}`" for item in operation.get("parameters", []))
            about = f"{operation['summary']}."
            who = operation["x-permission"]
            rows.append((operation["tags"][0], f"`{method.upper()} {path}`", cell(about), names, who))
    rows.sort(key=lambda row: row[0])
    return table(("area", "route", "answers", "parameters", "who"), rows)


def evidence_counts() -> str:
    """How many calls of each upstream are recorded, witnessed and assumed."""
    rows = [
        (f"`{upstream}`", *(str(found[kind]) for kind in CLASSES)) for upstream, found in counts().items()
    ]
    sums = (str(sum(found[kind] for found in counts().values())) for kind in CLASSES)
    return table(("upstream", *CLASSES), [*rows, ("all", *sums)])


def evidence_risks() -> str:
    """Tables of which no source asks a call that has any proof."""
    rows = [(f"`{name}`", f"`{source}`", ", ".join(f"`{call}`" for call in calls))
            for name, source, calls in risks()]  # fmt: skip
    return table(("table", "first source", "assumed calls"), rows) if rows else "None."


BLOCKS: dict[str, Callable[[], str]] = {
    "settings": settings,
    "tasks": tasks,
    "table-files": table_files,
    "errors": error_classes,
    "evidence": evidence_counts,
    "evidence-risks": evidence_risks,
    "sites": sites,
    "pacing": pacing,
    "faults": fault_kinds,
    "simulated-routes": simulated_routes,
    "routes": routes,
}
