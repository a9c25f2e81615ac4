"""app_schema: the available data: datasets, columns with units, interfaces, fields of the screener."""

from typing import Any, Literal

from pydantic import Field

from core.declaration.dataset import Dataset
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import NotFound
from platform_assets.compute.dsl.fields import catalogue
from serving_api.framework.read_failures import read_or
from serving_api.framework.state import State
from serving_api.interfaces.catalog import builtin_catalog
from serving_api.tools import queries
from serving_api.tools.answers import Draft, ToolAnswer
from serving_api.tools.model import Call, Paged, Tool


class SchemaArguments(Paged):
    kind: Literal["datasets", "interfaces", "screener"] = Field(
        default="datasets", description="datasets 数据集；interfaces 接口；screener 选股字段"
    )
    dataset: str | None = Field(default=None, max_length=64, description="一个数据集的列、单位与来源")
    interface: str | None = Field(default=None, max_length=64, description="一个接口的参数与所读的列")
    limit: int = Field(default=50, ge=1, le=200, description="至多几项")


class SchemaAnswer(ToolAnswer):
    items: list[dict[str, Any]]
    kind: str
    about: dict[str, Any] | None = Field(description="the dataset or interface that was asked for")


def described_columns(table: Table) -> list[dict[str, Any]]:
    """Columns of a table with their descriptions."""
    return [
        {
            "table": table.name,
            "column": spec.name,
            "type": spec.family,
            "unit": spec.unit or None,
            "title": spec.title or None,
            "key": spec.name in table.key,
        }
        for spec in table.columns
    ]


def dataset_named(name: str) -> Dataset:
    """By the name of the dataset or of one of its tables. Raises NotFound."""
    found = builtin_registry().datasets.get(name)
    if found is None:
        found = next(
            (
                one
                for one in builtin_registry().datasets.values()
                if name in {table.name for table in one.tables()}
            ),
            None,
        )
    if found is None:
        raise NotFound(f"unknown dataset: {name[:64]}")
    return found


async def available(state: State) -> list[dict[str, Any]]:
    """Every dataset with its tables: newest date and number of rows."""
    filled = await read_or({}, state.reading.point(queries.filled_tables))
    return [
        {
            "dataset": dataset.name,
            "title": dataset.title,
            "tables": [
                {
                    "table": table.name,
                    "rows": filled.get(table.name, (None, 0))[1],
                    "latest_date": filled.get(table.name, (None, 0))[0],
                }
                for table in dataset.tables()
            ],
            "interfaces": [one.name for one in dataset.interfaces],
        }
        for dataset in sorted(builtin_registry().datasets.values(), key=lambda one: one.name)
    ]


async def schema(call: Call, asked: SchemaArguments) -> Draft:
    """One dataset, one interface, or the list of a kind. Raises NotFound, Forbidden."""
    about: dict[str, Any] | None = None
    sources = ["declarations"]
    if asked.interface is not None:
        interface, dataset = builtin_catalog().find(asked.interface)
        entry = next(one for one in builtin_catalog().entries() if one["name"] == interface.name)
        table = dataset.table_of(interface)
        about = {**entry, "dataset": dataset.name, "table": table.name}
        rows = described_columns(table)
    elif asked.dataset is not None:
        dataset = dataset_named(asked.dataset)
        about = {"dataset": dataset.name, "title": dataset.title}
        rows = [row for table in dataset.tables() for row in described_columns(table)]
    elif asked.kind == "interfaces":
        rows = builtin_catalog().entries()
    elif asked.kind == "screener":
        rows = [
            {
                "field": one.name, "label": one.label, "type": one.kind, "unit": one.unit,
                "ops": list(one.operators), "group": group,
            }
            for group, fields in catalogue().groups.items()
            for one in fields
        ]  # fmt: skip
    else:
        rows = await available(call.state)
        sources = ["declarations", queries.VERSIONS]
    return Draft.part_of(
        rows,
        asked.offset,
        asked.limit,
        body={"kind": asked.kind, "about": about},
        sources=sources,
        as_of=call.state.clock.now(),
    )


TOOL = Tool(
    name="app_schema",
    title="数据目录",
    description=(
        "这个平台有哪些数据集、接口可以用，能查什么：一张表有哪些列（字段）与单位，最新日期与哪些表缺数据，"
        "接口的参数，选股字段"
    ),
    arguments=SchemaArguments,
    answer=SchemaAnswer,
    work=schema,
)
