"""Days without a price limit, as quotes mark them: by prices that cannot be."""

from typing import Any

import pandas as pd
import pytest

from tests.pipeline.conftest import Services

CODE = "600040"


def quoted(up: str, down: str) -> list[dict[str, Any]]:
    """The quote site and the portal say so of one stock."""
    site = {"match": {"2": CODE}, "fields": {"47": up, "48": down}}
    portal = {"match": {"f12": CODE}, "fields": {"f350": float(up), "f351": float(down)}}
    return [
        {"upstream": "tencent", "call": "quote", "kind": "set_fields", "args": site},
        {"upstream": "eastmoney", "call": "clist", "kind": "set_fields", "args": portal},
    ]


def limits(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["code"] == CODE][["limit_up", "limit_down"]].astype(float)


@pytest.mark.parametrize(
    ("up", "down"),
    [
        ("100000.00", "0.01"),
        ("99999.99", "0.00"),
        ("1000000.00", "0.01"),
        ("9999.99", "-1"),
        ("0.00", "0.01"),
    ],
)
def test_a_limit_that_cannot_be_is_none(alone: Services, up: str, down: str) -> None:
    services = alone
    services.faults.replace(quoted(up, down) if down != "-1" else quoted(up, down)[:1])
    services.master()
    received = services.warehouse.frame("raw_quote")
    assert limits(received[received["src"] == "tencent"]).isna().all(axis=None)
    others = received[(received["src"] == "tencent") & (received["code"] != CODE)]
    assert others["limit_up"].notna().mean() > 0.9

    services.stage("quote_snapshot")
    services.fuse("quote_snapshot")
    row = services.warehouse.frame("fusion_quote_snapshot").set_index("code").loc[CODE]
    assert not row["limit_up"] > 9_000
    if pd.isna(row["limit_up"]):
        assert row["limit_status"] is None  # not known, which is no statement that none was hit
    else:
        assert row["limit_status"] in {"none", "up", "down", "up_open", "down_open"}


def test_bars_of_the_quote_site_have_no_limit_that_cannot_be(alone: Services) -> None:
    """The terminal is away, so the site's own limits count."""
    services = alone
    services.master()
    services.fuse("exright")
    dead = {"upstream": "tdx", "call": "*", "kind": "dead"}
    services.faults.replace([*quoted("100000.00", "0.01"), dead])
    services.fresh()
    services.fuse("kline_daily")

    rows = services.warehouse.frame("fusion_kline_daily")
    assert set(rows[rows["code"] == CODE]["src"]) == {"tencent"}
    row = rows[rows["code"] == CODE].iloc[0]
    assert row["limit_up"] == pytest.approx(row["last_close"] * 1.1, abs=0.006)  # by the rules of its board
    assert rows["limit_up"].max() < 9_000
