"""Commands that read: rows as files, lineage, the cost of a backfill."""

import csv
import gzip
import json
from collections import Counter

import pytest

from tests.ashare.conftest import DAYS, CommandLine
from tests.serving_api.market import put

TABLE = "fusion_kline_daily"


def test_a_csv_file_has_the_rows_that_the_engine_has(cli: CommandLine) -> None:
    target = cli.folder / "bars.csv"

    found = cli.result("export", TABLE, "--out", str(target), "--columns", "code,date,close,volume")

    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    stored = cli.warehouse.query(f"SELECT code, date, close, volume FROM {TABLE} ORDER BY code, date")
    assert found["rows"] == len(rows) == len(stored) == 6
    assert [tuple(row.values()) for row in rows] == [
        (code, str(day), str(float(close)), str(int(volume))) for code, day, close, volume in stored
    ]


def test_both_engines_write_the_same_texts(cli: CommandLine) -> None:
    columns = ("code", "date", "close", "is_suspended", "src", "valid_from")
    asked = ("export", TABLE, "--codes", "600519", "--to", DAYS[0], "--columns", ",".join(columns))

    cli.result(*asked, "--out", str(cli.folder / "bars.csv"))
    cli.result(*asked, "--out", str(cli.folder / "bars.jsonl"))

    line = (cli.folder / "bars.csv").read_text(encoding="utf-8").splitlines()[1]
    assert line == f"600519,{DAYS[0]},11.0,0,tencent,2026-08-21 15:30:00.000000"
    record = json.loads((cli.folder / "bars.jsonl").read_text(encoding="utf-8"))
    assert record["is_suspended"] is False
    assert record["valid_from"] == "2026-08-21 15:30:00.000000"


def test_dates_and_codes_choose_rows_and_an_instant_the_version(cli: CommandLine) -> None:
    target = cli.folder / "bars.jsonl.gz"
    asked = ("export", TABLE, "--out", str(target), "--codes", "600519", "--from", DAYS[1], "--force")

    cli.result(*asked, "--to", DAYS[1])
    with gzip.open(target, "rt", encoding="utf-8") as file:
        now = [json.loads(line) for line in file]
    cli.result(*asked, "--as-of", "2026-08-21T15:10:00")
    with gzip.open(target, "rt", encoding="utf-8") as file:
        before = [json.loads(line) for line in file]

    assert [(row["code"], row["date"], row["close"]) for row in now] == [("600519", DAYS[1], 11.0)]
    assert Counter(row["close"] for row in before) == {10.0: 2}


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        (["--out", "bars.docx"], "out"),
        (["--out", "bars.parquet.gz"], "out"),
        (["--out", "bars.csv", "--adjust", "back"], "adjust"),
        (["--out", "bars.csv", "--from", "yesterday"], "from"),
        (["--out", "bars.csv", "--from", DAYS[1], "--to", DAYS[0]], "from"),
        (["--out", "bars.csv", "--columns", "price"], "columns"),
        (["--out", "bars.csv", "--as-of", "2030-01-01"], "as_of"),
    ],
)
def test_a_bad_value_is_named_and_leaves_no_file(
    cli: CommandLine, options: list[str], parameter: str
) -> None:
    before = set(cli.folder.iterdir())
    assert cli.fault("export", TABLE, *options)["parameter"] == parameter
    assert set(cli.folder.iterdir()) == before


def test_a_file_that_is_there_is_kept(cli: CommandLine) -> None:
    target = cli.folder / "bars.csv"
    target.write_text("mine")

    assert "--force" in cli.fault("export", TABLE, "--out", str(target))["error"]
    assert target.read_text() == "mine"
    assert cli("export", "sys_batch", "--out", str(cli.folder / "batches.csv")) == 1
    wrong = cli.fault("export", "fusion_kline_dayly", "--out", str(cli.folder / "new.csv"))
    assert "no table 'fusion_kline_dayly' of a dataset; nearest: fusion_kline_daily" in wrong["error"]


def test_lineage_names_the_source_and_both_versions(cli: CommandLine) -> None:
    found = cli.result("lineage", TABLE, "code=600519", f"date={DAYS[0]}")

    assert found["columns"]["close"]["value"] == 11.0
    assert found["columns"]["close"]["source"] == "tencent"
    now, before = found["revisions"]
    assert now["changed"]["close"] == {"old": 10.0, "new": 11.0}
    assert (before["changed"], before["valid_to"]) == ({}, now["valid_from"])
    assert cli.fault("lineage", TABLE, "code=600519")["parameter"] == "date"
    assert cli.fault("lineage", TABLE, "600519")["parameter"] == "key"


def test_a_plan_counts_the_missing_dates_and_starts_nothing(cli: CommandLine) -> None:
    found = cli.result("backfill", "kline_daily", "--from", DAYS[0], "--to", DAYS[2], "--plan")

    assert (found["partitions"], found["complete"]) == (3, 0)
    assert cli.warehouse.query("SELECT COUNT(*) FROM sys_command") == [(0,)]
    assert (
        cli.fault("backfill", "kline_daily", "--from", "x", "--to", DAYS[2], "--plan")["parameter"] == "from"
    )


def test_an_export_of_a_former_code_is_that_of_today_and_says_so(cli: CommandLine) -> None:
    changes = cli.warehouse.table("ref_code_change")
    put(cli.warehouse, changes, [{"code": "003061", "new_code": "600519", "date": DAYS[1], "market": "SH"}])
    target = cli.folder / "bars.csv"
    asked = ("export", TABLE, "--out", str(target), "--columns", "code,date")

    found = cli.result(*asked, "--codes", "003061")

    assert found["renumbered"] == [{"from": "003061", "to": "600519", "date": DAYS[1]}]
    assert [line.split(",")[0] for line in target.read_text().splitlines()[1:]] == ["600519"] * 3
    assert cli(*asked, "--codes", "003061", "--force") == 0
    assert f"003061 is 600519 since {DAYS[1]}" in cli.out
    assert cli.fault(*asked, "--codes", "430999", "--force")["parameter"] == "codes"


@pytest.mark.parametrize("code", ["600519.SH", "sh600519", "SH600519", "1.600519"])
def test_commands_take_a_dataset_by_its_name_and_a_code_in_every_notation(
    cli: CommandLine, code: str
) -> None:
    target = cli.folder / "bars.csv"
    found = cli.result(
        "export", "kline_daily", "--out", str(target), "--codes", code, "--columns", "code,date"
    )
    assert found["rows"] == 3
    assert {line.partition(",")[0] for line in target.read_text().splitlines()[1:]} == {"600519"}
    row = cli.result("lineage", "kline_daily", f"code={code}", f"date={DAYS[0]}")
    assert row["key"]["code"] == "600519"


def test_an_unknown_code_is_no_empty_file(cli: CommandLine) -> None:
    target = cli.folder / "bars.csv"
    fault = cli.fault("export", "kline_daily", "--out", str(target), "--codes", "600519,600591")
    assert fault["parameter"] == "codes"
    assert "'600591' is no code of kline_daily" in fault["error"]
    assert not target.exists()
