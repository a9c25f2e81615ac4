"""A dataset is one file: what derives from it, and how loudly a wrong one fails."""

import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from core.declaration.registry import builtin_registry, load_package
from core.declaration.tables import Layer
from core.errors import DeclarationError
from platform_assets.pipeline.whole_day import steps

DECLARATION = """
import pandas as pd
from core.declaration.columns import Amt, Code, Date, K32, Model, col, key
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import history
from core.declaration.rules import Soft, trading

class RawTip(Model):
    code: Code = key("code")
    date: Date = key("date")
    src: K32 = key("upstream")
    tip: Amt = col("CNY", "tip", ge=0)

class Tip(Model):
    code: Code = key("code")
    date: Date = key("date")
    tip: Amt = col("CNY", "tip", nullable=False, ge=0)

def fetch(ctx, scope):
    return pd.DataFrame({"code": ["600001"], "date": [scope.until], "tip": [1.5]})

def small(rows, context):
    return rows["tip"] < 10

DATASET = Dataset(
    name="tip", title="Tips", model=Tip, key=("code", "date"), domain="daily", date_column="date",
    raw=(Raw("tip", RawTip, ("code", "date", "src"), (Source("house", fetch),), date_column="date"),),
    feeds={"raw_tip": lambda rows, context: rows}, order=("house",), soft=(Soft(small),),
    freshness=trading(1), per_code=True, builtin=False,
    interfaces=(history("get_tip", "tips of a code", 60),),
)
"""


def _package(folder: Path, name: str, **files: str) -> str:
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text("")
    for file, text in files.items():
        (package / f"{file}.py").write_text(text)
    return name


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("extra_", "broken_")):
            del sys.modules[name]


def test_one_file_gives_tables_assets_checks_freshness_stats_and_catalog(importable: Path) -> None:
    from platform_assets.definitions.assets import build_assets
    from platform_assets.descriptions import dataset_checks

    registry = load_package(_package(importable, "extra_one", tip=DECLARATION))

    assert [table.name for table in registry.tables] == ["raw_tip", "stg_tip", "fusion_tip"]
    fused = registry.dataset("tip").table
    assert fused.layer is Layer.DWD
    assert fused.history_name == "fusion_tip_history"
    assert {"quality", "provenance", "valid_from"} <= set(fused.names)
    assert [row.table for row in registry.freshness()] == ["fusion_tip"]
    assert [table.name for table in registry.monitored()] == ["stg_tip", "fusion_tip"]
    assert [table.name for table in registry.per_code()] == ["fusion_tip"]
    assert list(registry.interfaces) == ["get_tip"]
    assert registry.download_to_fusion == {"tip": ("tip",)}
    keys = {str(asset.key.path[-1]) for asset in build_assets(registry)}
    assert keys == {"raw_tip", "stg_tip", "fusion_tip"}
    assert [check.name for check in dataset_checks(registry.dataset("tip"))] == ["schema", "small"]


def test_two_files_with_one_name_are_refused(importable: Path) -> None:
    package = _package(importable, "extra_two", tip=DECLARATION, copy_of_tip=DECLARATION)

    with pytest.raises(DeclarationError, match="tip"):
        load_package(package)


def test_a_file_without_declaration_is_named(importable: Path) -> None:
    package = _package(importable, "extra_none", nothing="X = 1\n")

    with pytest.raises(DeclarationError, match=r"extra_none\.nothing"):
        load_package(package)


def test_an_undeclared_feed_is_named(importable: Path) -> None:
    text = DECLARATION.replace('{"raw_tip"', '{"raw_tipp"')

    with pytest.raises(DeclarationError, match="raw_tipp"):
        load_package(_package(importable, "extra_feed", tip=text))


def test_a_key_outside_the_model_is_named(importable: Path) -> None:
    text = DECLARATION.replace('model=Tip, key=("code", "date")', 'model=Tip, key=("code", "day")')

    with pytest.raises(DeclarationError, match="day"):
        load_package(_package(importable, "extra_key", tip=text))


def test_only_a_table_by_code_is_replaced_code_by_code(importable: Path) -> None:
    text = DECLARATION.replace("per_code=True,", "per_code=True, replace='code',")

    with pytest.raises(DeclarationError, match=r"tip: replace='code' is for Partition\.CODE alone"):
        load_package(_package(importable, "extra_replaced", tip=text))


def test_builtin_tables_have_the_columns_of_the_dictionary_in_its_order() -> None:
    """Names, order and types of the dictionary (datasets.yaml) for what is built so far."""
    registry = builtin_registry()

    bars = registry.dataset("kline_daily").table
    assert [(spec.name, spec.sql) for spec in bars.columns] == [
        ("code", "code"), ("date", "date"), ("market", "s4"), ("sec_type", "s8"), ("open", "px"),
        ("high", "px"), ("low", "px"), ("close", "px"), ("last_close", "px"), ("volume", "big"),
        ("amount", "amt"), ("change_pct", "pct"), ("amplitude_pct", "pct"), ("turnover_pct", "pct"),
        ("limit_up", "px"), ("limit_down", "px"), ("limit_status", "s16"), ("is_suspended", "bool"),
        ("adj_factor", "f"),
    ]  # fmt: skip


ADDED = {
    "fusion_kline_bar": ("last_date",),  # the bar of a running period is dated ahead: what it holds by now
    "fusion_macro_indicator": ("publish_estimated",),  # its history came without dates of publication
}
"""Columns that the dictionary does not have."""


def test_the_dictionary_and_the_declarations_agree(real_data_dir: Path) -> None:
    """Where datasets.yaml is there: every declared RAW, STG and DWD table has exactly its columns."""
    import yaml

    path = real_data_dir.parent / "design" / "datasets.yaml"
    if not path.exists():
        pytest.skip("data not there: the data dictionary")
    dictionary = yaml.safe_load(path.read_text(encoding="utf-8"))
    requested = {
        row["table"]: [(column["name"], column["type"], column.get("unit", "")) for column in row["columns"]]
        for part in ("raw", "staging", "fusion")
        for row in dictionary[part]
    }
    for table in builtin_registry().tables:
        if table.name in requested:
            # RAW and STG keys hold `src`, which the dictionary lists among the audit columns.
            left_out = {"src", *ADDED.get(table.name, ())}
            have = [(s.name, s.sql, s.unit) for s in table.columns if s.name not in left_out]
            # 'down_open' has nine characters: the dictionary's s8 would refuse it.
            have = [(n, "s8" if n == "limit_status" else t, u) for n, t, u in have]
            assert have == requested[table.name], table.name


def test_types_fusions_and_dimensions_are_those_of_the_dictionary(real_data_dir: Path) -> None:
    """Of what is built: the download types, what each of them is fused into, the tables that are counted for
    a code and those of `f10`."""
    import yaml

    path = real_data_dir.parent / "design" / "datasets.yaml"
    if not path.exists():
        pytest.skip("data not there: the data dictionary")
    dictionary = yaml.safe_load(path.read_text(encoding="utf-8"))
    registry = builtin_registry()
    by_code = {row["downloader"] for row in dictionary["raw"] if row["group"] == "per_stock"}
    topical = {row["downloader"] for row in dictionary["raw"]} - by_code

    assert set(registry.download_types) <= by_code
    assert set(registry.topical) <= topical | {"northbound"}
    for name in registry.download_types:
        requested = dictionary["download_to_fusion"][name]
        fed = registry.download_to_fusion[name]
        # A fused dataset that is not declared yet has no feed.
        assert (requested in fed) == (requested in registry.datasets), name
        assert bool(fed) <= (requested is not None), name
    declared = {table.name for table in registry.tables}
    assert {table.name for table in registry.per_code()} == set(dictionary["code_dimensions"]) & declared
    f10 = {name for name in registry.raws if name.startswith("aux_")}
    assert f10 == set(dictionary["code_f10_tables"]) & declared


def test_no_table_waits_for_itself() -> None:
    """Feeds and reads of all datasets together can be put in an order."""
    order = list(TopologicalSorter(steps(builtin_registry())[1]).static_order())

    assert order.index("aux_equity") < order.index("fusion_stock_master") < order.index("fusion_stock_wide")


MASTER = """
from core.declaration.columns import Code, K32, S64, Big, Model, col, key
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.rules import Partition

class RawPaper(Model):
    code: Code = key("code")
    src: K32 = key("upstream")
    city: S64 = col(title="seat")
    shares: Big = col("sh", "shares")

class Paper(Model):
    code: Code = key("code")
    city: S64 = col(title="seat", fixed=True)
    shares: Big = col("sh", "shares")

DATASET = Dataset(
    name="paper", model=Paper, partition=Partition.SNAPSHOT, dimension=True,
    raw=(Raw("paper", RawPaper, sources=(Source("house", None),), partition=Partition.SNAPSHOT),),
    feeds={"raw_paper": lambda rows, context: rows}, order=("house",),
)
"""


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("reads=('fusion_paper',)", "rows of 'fusion_paper' have no date"),
        (
            "reads=('fusion_paper',), undated={'fusion_paper': ('code', 'shares')}",
            r"tip: fusion_paper\.shares is that of now",
        ),
        (
            "reads=('fusion_paper',), undated={'fusion_paper': ('code',)}, "
            "owners={'tip': ('fusion_paper', 'shares')}",
            r"fusion_paper\.shares is that of now",
        ),
        ("undated={'fusion_paper': ('code',)}", "'fusion_paper' is not among the tables that it reads"),
        ("reads=('raw_paper',), as_known=('raw_paper',)", "'raw_paper' is dated, or keeps no versions"),
    ],
)
def test_the_state_of_now_is_refused_in_rows_of_dates(importable: Path, said: str, refusal: str) -> None:
    text = DECLARATION.replace("per_code=True,", f"per_code=True, {said},")

    with pytest.raises(DeclarationError, match=refusal):
        load_package(_package(importable, f"extra_now{abs(hash(said))}", tip=text, paper=MASTER))


@pytest.mark.parametrize(
    "said",
    ["undated={'fusion_paper': ('code', 'city')}", "as_known=('fusion_paper',)"],
    ids=["fixed", "known"],
)
def test_what_never_changes_or_was_known_then_may_enter_rows_of_dates(importable: Path, said: str) -> None:
    text = DECLARATION.replace("per_code=True,", f"per_code=True, reads=('fusion_paper',), {said},")

    registry = load_package(_package(importable, f"extra_then{abs(hash(said))}", tip=text, paper=MASTER))

    readable = registry.readable(registry.dataset("tip"))["fusion_paper"]
    assert readable == ({"code", "city"} if "city" in said else set())
