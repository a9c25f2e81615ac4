"""What Dagster's users see of the code location: keys, edges, checks, jobs, schedules, sensors, metadata."""

import graphlib
import re
from pathlib import Path

import dagster as dg

from platform_assets.definitions import dagster_internals
from platform_assets.task_table import TASKS
from schedules.code_location import defs
from tests.definitions.surface import FILE, starters, surface

ROOT = Path(__file__).parents[2]
GRAPH = defs.get_repository_def().asset_graph


def _entries(text: str) -> dict[str, str]:
    """First two words of each entry -> the entry with its indented lines."""
    return {" ".join(entry.split()[:2]): entry for entry in re.split(r"\n(?! )", text.strip())}


def test_the_code_location_is_what_it_was() -> None:
    """A wanted change is taken over with `python -m tests.definitions.surface`. A new dataset is no change of
    what was there: its assets may come in addition."""
    stored, now = _entries(FILE.read_text(encoding="utf-8")), _entries(surface())

    assert {name: now.get(name) for name in stored} == stored
    added = [name for name in now.keys() - stored.keys() if not name.startswith("asset ")]
    assert added == []


def test_the_subjects_of_the_tables_depend_on_each_other_one_way() -> None:
    sorter: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
    for key in GRAPH.get_all_asset_keys():
        node = GRAPH.get(key)
        parents = {GRAPH.get(parent).group_name for parent in node.parent_keys} - {node.group_name}
        sorter.add(str(node.group_name), *map(str, parents))

    sorter.prepare()  # CycleError names the circle
    assert "securities" in sorter.get_ready()


def test_every_job_is_started_by_somebody_and_everybody_finds_the_job() -> None:
    assert {job.name for job in defs.jobs or ()} == starters().keys()


def test_a_fused_column_names_the_staged_column_that_it_is_taken_from() -> None:
    lineage = GRAPH.get(dg.AssetKey(["dwd", "fusion_dividend"])).metadata["dagster/column_lineage"]

    (source,) = lineage.deps_by_column["bonus_rmb"]
    assert (source.asset_key, source.column_name) == (dg.AssetKey(["stg", "stg_dividend"]), "bonus_rmb")
    assert "total_cash" not in lineage.deps_by_column  # computed from several


def test_a_column_with_an_owner_names_the_column_of_that_table() -> None:
    lineage = GRAPH.get(dg.AssetKey(["dwd", "fusion_stock_wide"])).metadata["dagster/column_lineage"]

    (source,) = lineage.deps_by_column["is_suspended"]
    assert source.asset_key == dg.AssetKey(["dwd", "fusion_quote_snapshot"])


def test_column_lineage_names_assets_and_columns_that_exist() -> None:
    columns = {
        key: {column.name for column in GRAPH.get(key).metadata["dagster/column_schema"].columns}
        for key in GRAPH.get_all_asset_keys()
    }
    for key, own in columns.items():
        node = GRAPH.get(key)
        lineage = node.metadata.get("dagster/column_lineage")
        for column, sources in (lineage.deps_by_column if lineage else {}).items():
            assert column in own
            for source in sources:
                assert source.asset_key in node.parent_keys, (key, column)
                assert source.column_name in columns[source.asset_key], (key, column)


def test_every_asset_leads_to_the_file_that_declares_its_columns() -> None:
    shown = {}
    for key in GRAPH.get_all_asset_keys():
        # The second one is the function that loads it.
        declared, _ = GRAPH.get(key).metadata["dagster/code_references"].code_references
        lines = Path(declared.file_path).read_text(encoding="utf-8").splitlines()
        shown[key.to_user_string()] = lines[declared.line_number - 1]
        assert (ROOT / "platform_assets" / "datasets") in Path(declared.file_path).parents

    assert shown["dwd/fusion_kline_daily"] == "class KlineDaily(Model):"
    of_classes = [key for key, line in shown.items() if line.startswith("class ")]
    assert len(of_classes) > 0.9 * len(shown)  # others are made from a class of the same file


def test_dagsters_inside_is_imported_by_one_module_alone() -> None:
    users = [
        path.relative_to(ROOT).as_posix()
        for package in (
            "core",
            "platform_assets",
            "resources",
            "schedules",
            "serving_api",
            "simulated_market",
        )
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"^\s*(from|import) dagster\._", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert users == ["platform_assets/definitions/dagster_internals.py"]


def test_the_names_from_inside_are_those_of_the_pinned_version() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    assert f"dagster=={dagster_internals.WRITTEN_FOR}" in pins
    assert dg.__version__ == dagster_internals.WRITTEN_FOR


def test_a_task_stages_only_what_is_downloaded_by_then() -> None:
    """Else a job that runs before the downloads of its day finds nothing on each of them."""
    repository = defs.get_repository_def()
    timed = sorted(
        (task.timing.hm, task.key) for task in TASKS if task.timing.hm and repository.has_job(task.key)
    )
    downloaded: set[dg.AssetKey] = set()
    early = []
    for _, name in timed:
        keys = repository.get_job(name).asset_layer.executable_asset_keys
        downloaded |= {key for key in keys if key.path[0] == "raw"}
        for key in keys:
            feeds = {feed for feed in GRAPH.get(key).parent_keys if feed.path[0] == "raw"}
            if key.path[0] == "stg" and not feeds & downloaded:
                early.append((name, key.to_user_string()))

    assert early == []
