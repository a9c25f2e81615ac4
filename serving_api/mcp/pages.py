"""Resources of the channel: a page per dataset, and the lineage of a value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson

from core.declaration.dataset import Dataset
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import Forbidden, NotFound
from platform_assets.descriptions import dataset_checks, freshness_text, fused_about, raw_about
from serving_api.admin.lineage.service import lineage
from serving_api.framework.error_responses import NOT_ADMIN, NOT_LOGGED_IN, NotAuthenticated
from serving_api.framework.parameters import parse_as_of
from serving_api.framework.permissions import Subject
from serving_api.framework.state import State
from serving_api.tools.cleaning import clean
from serving_api.tools.schema import dataset_named

SCHEME = "ashare"
DATASET = f"{SCHEME}://datasets/{{name}}"
LINEAGE = f"{SCHEME}://lineage/{{table}}{{?key*}}"
INDEX = f"{SCHEME}://datasets"
MARKDOWN, JSON = "text/markdown", "application/json"


@dataclass(frozen=True)
class Page:
    uri: str
    kind: str
    text: str


def dataset_uri(name: str) -> str:
    return f"{SCHEME}://datasets/{name}"


def datasets() -> list[Dataset]:
    return sorted(builtin_registry().datasets.values(), key=lambda one: one.name)


async def read(state: State, subject: Subject, uri: str) -> Page:
    """The page of an address. Raises NotFound; for lineage as its route does: NotAuthenticated, Forbidden
    (administrators only), InputError."""
    split = urlsplit(uri)
    if split.scheme != SCHEME:
        raise NotFound(f"no resource {uri[:200]}")
    name = unquote(split.path.removeprefix("/"))
    if split.netloc == "datasets":
        return Page(uri, MARKDOWN, dataset_page(dataset_named(name)) if name else index_page())
    if split.netloc == "lineage" and name:
        return Page(uri, JSON, await _lineage(state, subject, name, split.query))
    raise NotFound(f"no resource {uri[:200]}")


async def _lineage(state: State, subject: Subject, table: str, query: str) -> str:
    if subject.user is None:
        raise NotAuthenticated(NOT_LOGGED_IN)
    if not subject.user.is_admin:
        raise Forbidden(NOT_ADMIN)
    given = parse_qsl(query, keep_blank_values=True, max_num_fields=20)
    own = dict(given)
    as_of = None if "as_of" not in own else parse_as_of(own["as_of"], state.clock.now()).bound
    keys = [pair for pair in given if pair[0] not in {"column", "as_of", "payload"}]
    reported = await lineage(state, table, keys, column=own.get("column"), payload=False, as_of=as_of)
    return orjson.dumps(clean(reported), option=orjson.OPT_INDENT_2).decode()


def index_page() -> str:
    lines = ["# 数据集", "", "| 数据集 | 内容 | 接口 |", "|---|---|---|"]
    lines += [
        f"| [{one.name}]({dataset_uri(one.name)}) | {one.title} | {len(one.interfaces)} |"
        for one in datasets()
    ]
    return "\n".join(lines) + "\n"


def dataset_page(dataset: Dataset) -> str:
    """The description of a dataset: its tables with columns and units, sources, checks, interfaces."""
    return "\n".join(_lines(dataset)) + "\n"


def _lines(dataset: Dataset) -> Iterator[str]:
    yield from (f"# {dataset.name}", "", dataset.title, "")
    if dataset.model is not None:
        yield from (fused_about(dataset), "")
    for table in dataset.tables():
        yield from _table(table)
    if dataset.raw:
        yield from ("## 来源", "")
        yield from (f"- `{raw.table_name}`: {raw_about(raw)}" for raw in dataset.raw)
        yield ""
    checks = dataset_checks(dataset)
    if checks:
        yield from ("## 检查", "")
        yield from (f"- {check.name} ({check.kind}): {check.text}" for check in checks)
        yield ""
    if dataset.interfaces:
        yield from ("## 接口（app_info）", "")
        yield from (f"- `{one.name}`: {one.description}" for one in dataset.interfaces)
        yield ""
    if dataset.freshness is not None:
        yield f"更新：{freshness_text(dataset.freshness)}"


def _table(table: Table) -> Iterator[str]:
    yield from (f"## {table.name}", "", "| 列 | 类型 | 单位 | 含义 |", "|---|---|---|---|")
    for spec in table.columns:
        key = "（键）" if spec.name in table.key else ""
        yield f"| {spec.name}{key} | {spec.family} | {spec.unit or '-'} | {spec.title or '-'} |"
    yield ""


def listed() -> list[dict[str, Any]]:
    """Every page that has an address of its own."""
    return [
        {"uri": INDEX, "name": "datasets", "title": "数据集一览"},
        *({"uri": dataset_uri(one.name), "name": one.name, "title": one.title} for one in datasets()),
    ]
