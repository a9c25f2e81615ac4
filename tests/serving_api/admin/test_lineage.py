"""From a stored value back to the upstream's answer, over what the pipeline really loaded."""

import base64
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.warehouse.stored import ANY
from simulated_market.world.model import World
from tests.pipeline.conftest import Services, opened_services
from tests.serving_api.admin.conftest import DATES, UI_PORT, FetchContext, opened_context

LATER = "2026-08-24T10:00:00+08:00"


@pytest.fixture(scope="module")
def corrected(module_url: str, services_folder: Path, world: World) -> Iterator[tuple[Services, str, float]]:
    """Loaded on Friday; on Monday the upstream corrects the close of one bar, and the range is loaded anew
    by a run. Gives (house, code, the close before)."""
    with opened_services(module_url, services_folder, world) as services:
        services.master()
        services.stage("quote_snapshot")
        services.fuse("quote_snapshot")
        services.fuse("exright", *DATES)
        services.fuse("kline_daily", *DATES)
        bars = services.warehouse.rows("fusion_kline_daily", ANY.date == DATES[1], ANY.volume > 0)
        code, before = next((bar["code"], bar) for bar in bars if bar["close"] != bar["low"])
        services.clock.at = services.clock.at.replace(day=24, hour=10, minute=0)
        services.fresh()
        services.run.trigger = type(services.run.trigger)("manual", run_id="run-2")
        rule = {
            "upstream": "*",
            "call": "bars*",
            "kind": "override_bar",
            "args": {"code": code, "date": DATES[1], "close": before["low"]},
        }
        services.faults.replace([rule])
        services.fuse("kline_daily", *DATES)
        services.faults.replace([])
        yield services, code, before["close"]


@pytest.fixture(scope="module")
def bar(corrected: tuple[Services, str, float], services_folder: Path) -> Iterator[FetchContext]:
    services, *_ = corrected
    with opened_context(services.warehouse, services_folder, services.clock) as opened:
        yield opened


def lineage_of(ctx: FetchContext, corrected: tuple[Services, str, float], **more: Any) -> Any:
    return ctx.results("/datamgr/lineage/fusion_kline_daily", code=corrected[1], date=DATES[1], **more)


def test_a_corrected_bar_shows_both_closes_and_the_run_that_brought_the_new_one(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    services, code, before = corrected
    stored = services.warehouse.rows("fusion_kline_daily", ANY.code == code, ANY.date == DATES[1])[0]

    found = lineage_of(bar, corrected)

    assert found["key"] == {"code": code, "date": DATES[1]}
    assert found["columns"]["close"]["value"] == stored["close"] != before
    assert found["columns"]["close"]["batch_id"] == stored["batch_id"]
    assert (found["valid_from"], found["valid_to"]) == (LATER, None)
    newest, first = found["revisions"]
    assert newest["changed"]["close"] == {"old": before, "new": stored["close"]}
    assert newest["batch_id"] == stored["batch_id"]
    assert (first["changed"], first["valid_to"]) == ({}, LATER)
    assert first["valid_from"] == f"{DATES[1]}T15:00:00+08:00"
    winner = found["batches"][0]
    assert winner["batch_id"] == stored["batch_id"]
    assert winner["run_id"] == "run-2"
    assert winner["run_url"] == f"http://127.0.0.1:{UI_PORT}/runs/run-2"


def test_the_winner_of_a_range_is_followed_by_the_download_that_fed_it(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    batches = lineage_of(bar, corrected)["batches"]

    assert batches[0]["partition_key"] == DATES[1]
    assert batches[1]["batch_id"] == batches[0]["parent_batch_id"]
    assert batches[1]["partition_key"] == f"{DATES[0]}..{DATES[-1]}"


def test_the_payload_of_a_bypass_dataset_is_the_response_that_named_the_code(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    services, code, _ = corrected

    raw = lineage_of(bar, corrected, payload="true")["raw"]

    bars = [item for item in raw if item["fetch"]["call"].startswith("bars")]
    assert bars
    for item in bars:
        assert code in item["fetch"]["request"]
        assert item["table"] is None
        # Asked on Monday: the answers of Friday fed the superseded version only.
        assert item["fetch"]["received_at"] == LATER
        stored = services.warehouse.rows("sys_fetch", ANY.fetch_id == item["fetch"]["id"])[0]
        body = base64.b64decode(item["payload"]["content"])
        assert hashlib.sha256(body).hexdigest() == stored["sha256"] == item["fetch"]["sha256"]
        assert body == services.warehouse.payloads.get(stored["body_path"])


def test_as_of_the_weekend_the_first_version_and_its_responses_are_shown(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    answer = bar.get(
        "/datamgr/lineage/fusion_kline_daily", code=corrected[1], date=DATES[1], as_of="2026-08-22"
    )

    body = answer.json()
    found = body["results"]
    assert body["as_of"] == "2026-08-22T23:59:59.999999+08:00"
    assert found["columns"]["close"]["value"] == corrected[2]
    assert (found["valid_from"], found["valid_to"]) == (f"{DATES[1]}T15:00:00+08:00", LATER)
    assert len(found["revisions"]) == 1
    assert {item["fetch"]["received_at"][:10] for item in found["raw"]} == {"2026-08-21"}


def test_before_its_close_a_bar_did_not_exist(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    answer = bar.get(
        "/datamgr/lineage/fusion_kline_daily",
        code=corrected[1],
        date=DATES[1],
        as_of=f"{DATES[1]}T14:59:59",
    )

    assert answer.status_code == 404


def test_no_file_path_is_shown(
    bar: FetchContext, corrected: tuple[Services, str, float], services_folder: Path
) -> None:
    answers = [
        bar.get("/datamgr/lineage/fusion_kline_daily", code=corrected[1], date=DATES[1], payload="true"),
        bar.get(
            "/datamgr/lineage/fusion_quote_snapshot",
            code=corrected[1],
            trade_date=DATES[-1],
            payload="true",
        ),
    ]

    for answer in answers:
        assert answer.status_code == 200
        assert "body_path" not in answer.text
        assert ".zst" not in answer.text
        assert str(services_folder) not in answer.text


def test_a_staged_value_is_followed_to_the_row_and_record_of_its_own_source(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    services, code, _ = corrected
    fused = services.warehouse.rows("fusion_quote_snapshot", ANY.code == code, ANY.trade_date == DATES[-1])[0]
    pattern = json.loads(
        services.warehouse.query("SELECT pattern FROM sys_provenance WHERE id=?", (fused["provenance"],))[0][
            0
        ]
    )
    foreign, columns = next(iter(pattern.items()))

    found = bar.results(
        "/datamgr/lineage/fusion_quote_snapshot",
        code=code,
        trade_date=DATES[-1],
        column=columns[0],
        payload="true",
    )

    assert list(found["columns"]) == [columns[0]]
    origin = found["columns"][columns[0]]
    assert (origin["source"], origin["value"]) == (foreign, fused[columns[0]])
    assert foreign != fused["src"]
    staged = services.warehouse.rows("stg_quote_snapshot", ANY.code == code, ANY.trade_date == DATES[-1])
    said = {row["src"]: row[columns[0]] for row in staged}
    assert len(said) > 1
    assert {one["source"]: one["value"] for one in found["reported"]} == said
    assert said[foreign] == origin["value"]
    assert origin["from"] == {
        "table": "stg_quote_snapshot",
        "key": {"code": code, "trade_date": DATES[-1], "src": foreign},
        "column": columns[0],
    }
    assert [batch["table_name"] for batch in found["batches"]] == [
        "fusion_quote_snapshot",
        "stg_quote_snapshot",
        "raw_quote",
    ]
    assert {item["source"] for item in found["raw"]} == {foreign}
    assert {item["fetch"]["upstream"] for item in found["raw"]} == {foreign}
    raw = services.warehouse.rows(
        "raw_quote", ANY.code == code, ANY.trade_date == DATES[-1], ANY.src == foreign
    )[0]
    assert found["raw"][0]["table"] == "raw_quote"
    assert found["raw"][0]["key"] == {"code": code, "trade_date": DATES[-1], "src": foreign}
    assert found["raw"][0]["batch_id"] == raw["batch_id"]


def test_a_text_body_is_shown_as_text_and_holds_the_value(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    found = bar.results(
        "/datamgr/lineage/fusion_quote_snapshot",
        code=corrected[1],
        trade_date=DATES[-1],
        column="price",
        payload="true",
    )

    shown = found["raw"][0]["payload"]
    assert shown["encoding"] == "text"
    assert f"{found['columns']['price']['value']:.2f}" in shown["content"]
    assert corrected[1] in shown["content"]


def test_every_column_of_a_row_says_where_it_came_from(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    table = bar.warehouse.table("fusion_quote_snapshot")

    found = bar.results("/datamgr/lineage/fusion_quote_snapshot", code=corrected[1], trade_date=DATES[-1])

    assert set(found["columns"]) == {spec.name for spec in table.columns} - set(table.key)
    assert found["reported"] == []
    for spec in table.columns:
        if spec.name in table.key:
            continue
        origin = found["columns"][spec.name]
        if origin["value"] is None:
            assert origin["source"] is None
        elif spec.computed:
            assert (origin["source"], origin["from"]) == ("computed", None)
        else:
            staged = bar.warehouse.rows(
                "stg_quote_snapshot",
                ANY.code == corrected[1],
                ANY.trade_date == DATES[-1],
                ANY.src == origin["source"],
            )[0]
            assert staged[spec.name] == origin["value"], spec.name


def test_a_staged_row_overwritten_since_is_no_longer_named_but_its_batches_are(
    module_url: str, bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    code = corrected[1]
    key = {"code": code, "trade_date": DATES[-1]}
    before = bar.results("/datamgr/lineage/fusion_quote_snapshot", **key, column="price")
    source = before["columns"]["price"]["source"]
    where = "code=? AND trade_date=? AND src=?"
    of_key = [ANY[name] == value for name, value in key.items()]
    saved = bar.warehouse.rows("stg_quote_snapshot", *of_key, ANY.src == source)[0]
    bar.execute(
        f"UPDATE stg_quote_snapshot SET price=price+1, batch_id='later' WHERE {where}",
        code,
        DATES[-1],
        source,
    )

    after = bar.results("/datamgr/lineage/fusion_quote_snapshot", **key, column="price")

    bar.execute(
        f"UPDATE stg_quote_snapshot SET price=?, batch_id=? WHERE {where}",
        saved["price"],
        saved["batch_id"],
        code,
        DATES[-1],
        source,
    )
    assert before["columns"]["price"]["from"] is not None
    assert after["columns"]["price"]["from"] is None
    assert [b["batch_id"] for b in after["batches"]] == [b["batch_id"] for b in before["batches"]]
    assert after["raw"] == before["raw"]


def test_a_staged_row_that_was_cleaned_up_is_no_longer_named_but_its_batches_are(
    module_url: str, bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    key = {"code": corrected[1], "trade_date": DATES[-1]}
    where = "code=? AND trade_date=?"
    of_key = [ANY[name] == value for name, value in key.items()]
    saved = bar.warehouse.rows("stg_quote_snapshot", *of_key)
    before = bar.results("/datamgr/lineage/fusion_quote_snapshot", **key, column="price")
    bar.execute(f"DELETE FROM stg_quote_snapshot WHERE {where}", *key.values())

    after = bar.results("/datamgr/lineage/fusion_quote_snapshot", **key, column="price")

    for row in saved:
        names = list(row)
        with bar.warehouse.engine.begin() as connection:
            statement = bar.warehouse.sql.insert("stg_quote_snapshot", names)
            connection.exec_driver_sql(statement, tuple(row.values()))
    assert after["columns"]["price"] == {**before["columns"]["price"], "from": None}
    assert [b["batch_id"] for b in after["batches"]] == [b["batch_id"] for b in before["batches"]]
    assert after["raw"] == before["raw"]


def test_staged_and_raw_rows_can_be_asked_for_themselves(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    code = corrected[1]

    staged = bar.results("/datamgr/lineage/stg_stock_master", code=code, src="tdx")
    raw = bar.results("/datamgr/lineage/raw_quote", code=code, trade_date=DATES[-1], src="tdx")

    assert staged["columns"]["name"]["from"]["table"] == "raw_quote"
    assert [batch["table_name"] for batch in staged["batches"]] == ["stg_stock_master", "raw_quote"]
    assert [batch["table_name"] for batch in raw["batches"]] == ["raw_quote"]
    assert raw["raw"][0]["fetch"]["upstream"] == "tdx"
    assert (raw["valid_from"], raw["revisions"]) == (None, [])


def test_a_list_page_that_names_the_code_in_its_body_alone_is_found(
    bar: FetchContext, corrected: tuple[Services, str, float]
) -> None:
    raw = bar.results("/datamgr/lineage/raw_quote", code=corrected[1], trade_date=DATES[-1], src="tdx")["raw"]

    pages = [item["fetch"]["request"] for item in raw if item["fetch"]["call"] == "list"]
    assert len(pages) == 1
    assert corrected[1] not in pages[0]


def test_a_body_whose_retention_is_over_is_null(
    bar: FetchContext, corrected: tuple[Services, str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = bar.api.app.state.platform.reading.warehouse.payloads
    monkeypatch.setattr(store, "_folder", store._folder / "elsewhere")

    found = lineage_of(bar, corrected, payload="true")

    assert found["raw"]
    assert {item["payload"] for item in found["raw"]} == {None}


@pytest.mark.parametrize(
    ("table", "params", "named"),
    [
        ("fusion_kline_daily", {"code": "600519"}, "date"),
        ("fusion_kline_daily", {"date": "2026-08-20"}, "code"),
        ("fusion_kline_daily", {"code": "", "date": "2026-08-20"}, "code"),
        ("fusion_kline_daily", {"code": "600519", "date": "2026-08-20", "day": "1"}, "day"),
        ("fusion_kline_daily", {"code": "600519", "date": "yesterday"}, "date"),
        ("fusion_kline_daily", {"code": "600519", "date": "2026-02-30"}, "date"),
        ("fusion_kline_daily", {"code": ["600519", "000001"], "date": "2026-08-20"}, "code"),
        ("fusion_kline_daily", {"code": "600519", "date": "2026-08-20", "column": "price"}, "column"),
        ("fusion_kline_daily", {"code": "600519", "date": "2026-08-20", "column": "batch_id"}, "column"),
        ("fusion_kline_daily", {"code": "600519", "date": "2026-08-20", "as_of": "2030-01-01"}, "as_of"),
        ("raw_quote", {"code": "600519", "trade_date": "2026-08-21"}, "src"),
        (
            "raw_quote",
            {"code": "600519", "trade_date": "2026-08-21", "src": "tdx", "as_of": "2026-08-21"},
            "as_of",
        ),
    ],
)
def test_a_wrong_parameter_is_named(
    bar: FetchContext, table: str, params: dict[str, Any], named: str
) -> None:
    answer = bar.get(f"/datamgr/lineage/{table}", **params)

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{named}: ")
    assert answer.json()["errors"][0]["loc"][-1] == named


@pytest.mark.parametrize("table", ["app_users", "sys_config", "sys_fetch", "fusion_nothing", "sqlite_master"])
def test_only_tables_of_datasets_have_lineage(bar: FetchContext, table: str) -> None:
    assert bar.get(f"/datamgr/lineage/{table}", id="1", code="1").status_code == 404


def test_no_such_row_is_404_and_says_which(bar: FetchContext) -> None:
    answer = bar.get("/datamgr/lineage/fusion_kline_daily", code="999999", date="20260820")

    assert answer.status_code == 404
    assert "code=999999, date=2026-08-20" in answer.json()["detail"]


def test_a_value_with_wildcards_is_taken_literally(bar: FetchContext) -> None:
    assert (
        bar.get("/datamgr/lineage/fusion_kline_daily", code="%' OR '1'='1", date=DATES[1]).status_code == 404
    )
