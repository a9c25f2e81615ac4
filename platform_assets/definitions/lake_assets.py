"""The asset layer `lake`: one asset per published table, key [lake, table], downstream of the table's own.

All of them are one step: a table of which nothing changed costs a look at its version, and a step of its own
would cost more. A table that cannot be published hurts no other; the run fails at its end and names it.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import dagster as dg

from core.declaration.registry import Registry
from core.declaration.tables import Table
from core.errors import PlatformError
from platform_assets.definitions.assets import OWNER, asset_key
from platform_assets.definitions.materialization import column_schema
from platform_assets.definitions.resources import RUN_RESOURCES, platform_of
from platform_assets.definitions.run_context import entered
from platform_assets.definitions.source_metadata import declared_in
from resources.composition import Platform

JOB = "lake_publish"
LAYER = "lake"
CHECK = "same_as_warehouse"


def lake_key(table: Table) -> dg.AssetKey:
    return dg.AssetKey([LAYER, table.name])


def published_tables(registry: Registry) -> dict[str, Table]:
    """The tables that are published, by name."""
    return {table.name: table for table in registry.tables if table.published}


def build_lake(registry: Registry) -> tuple[Any, Any]:
    """(the assets, the job that publishes all of them)."""
    with warnings.catch_warnings():
        # Code references are beta; the pin and the tests hold them.
        warnings.simplefilter("ignore", dg.BetaWarning)
        (assets,) = dg.with_source_code_references([_assets(registry)])
    job = dg.define_asset_job(
        JOB,
        selection=dg.AssetSelection.assets(
            *(lake_key(table) for table in published_tables(registry).values())
        ),
        tags={"app/task_key": JOB},
        description="publishes every fused, calculated and reference table in the lake",
    )
    return assets, job


def _assets(registry: Registry) -> dg.AssetsDefinition:
    tables = published_tables(registry)
    models = {one.table_name: one.model for one in registry.datasets.values() if one.model is not None}
    specs = [
        dg.AssetSpec(
            lake_key(table),
            deps=[asset_key(table)],
            description=f"{table.description or table.name}, published as a Delta Lake table",
            group_name=LAYER,
            kinds={"deltalake"},
            owners=[OWNER],
            tags={"layer": LAYER},
            metadata={
                "dagster/column_schema": column_schema(table),
                "dagster/table_name": table.name,
                **declared_in(models[table.name]),
            },
            skippable=True,
        )
        for table in tables.values()
    ]
    checks = [
        dg.AssetCheckSpec(
            CHECK, asset=lake_key(table), description="the published months hold the rows of the warehouse"
        )
        for table in tables.values()
    ]

    @dg.multi_asset(
        name=LAYER,
        specs=specs,
        check_specs=checks,
        can_subset=True,
        required_resource_keys=set(RUN_RESOURCES),
        description="publishes the months that changed since they were published",
    )
    def publish(context: dg.AssetExecutionContext) -> Iterator[Any]:
        opened = platform_of(context)
        chosen = {key.path[-1] for key in context.selected_asset_keys}
        failed: list[str] = []
        with entered(context, opened):
            for name, table in tables.items():
                if name not in chosen:
                    continue
                try:
                    yield from _published(opened, table)
                except PlatformError as error:
                    context.log.warning(f"{name}: {error.message}")
                    failed.append(name)
        if failed:
            raise dg.Failure(description=f"not published: {', '.join(failed)}", allow_retries=True)

    return publish


def _published(opened: Platform, table: Table) -> Iterator[Any]:
    """The events of one table: what was published, and whether that is what the warehouse holds."""
    # Loads pyarrow and deltalake, which the code server has no use for.
    from resources.lake.checking import checked  # noqa: PLC0415
    from resources.lake.location import Lake  # noqa: PLC0415
    from resources.lake.publishing import Publisher  # noqa: PLC0415

    lake = Lake(opened.settings.lake_address)
    done = Publisher(opened.warehouse, lake).publish(table)
    found = list(checked(opened.warehouse, lake, table, done.months))
    wrong = [one.month for one in found if not one.ok]
    yield dg.MaterializeResult(
        asset_key=lake_key(table),
        data_version=dg.DataVersion(str(done.version)),
        metadata={
            "dagster/row_count": sum(one.published_rows for one in found),
            "months": len(done.months),
            "batches": len(done.batches),
            "commits": done.commits,
        },
        check_results=[
            dg.AssetCheckResult(
                passed=not wrong,
                check_name=CHECK,
                asset_key=lake_key(table),
                metadata={"months": len(found), **({"different": ", ".join(wrong)} if wrong else {})},
            )
        ],
    )
