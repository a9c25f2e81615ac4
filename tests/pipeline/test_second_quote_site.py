"""Bars and indices of a day on which three of four upstreams are away."""

AWAY = {"kind": "status", "args": {"code": 503}, "call": "*"}


def test_the_second_site_brings_the_bars_of_the_day(services) -> None:
    services.raw("raw_quote")
    services.faults.replace(
        [{"upstream": "tdx", "kind": "reset", "call": "quotes"}]
        + [{"upstream": name, **AWAY} for name in ("tencent", "eastmoney")]
    )
    services.fresh()

    bars = services.fuse("kline_daily")
    indices = services.fuse("index_daily")

    rows = services.warehouse.frame("fusion_kline_daily")
    quoted = services.warehouse.frame("raw_quote")
    quoted = quoted[quoted["src"] == "tencent"].set_index("code")
    assert set(rows["src"]) == {"sina"}
    assert bars.results[0].rows_rejected == 0
    assert len(rows) > 50
    traded = rows[rows["volume"] > 0].set_index("code")
    assert (traded["close"] - quoted["price"].reindex(traded.index)).abs().max() < 0.001
    assert traded["amount"].notna().all()
    assert [item["src"] for item in bars.sources if item.get("rows")] == ["sina"]
    assert indices.results[0].rows_ok + indices.results[0].rows_warning > 0
