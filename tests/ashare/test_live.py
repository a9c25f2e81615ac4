"""`ashare.open("live")`: rows from the upstreams of autumn 2026 without a platform, and what a platform
stores of the same codes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ashare
from core.calendar import shipped_calendar
from core.declaration.registry import builtin_registry
from platform_assets.research.queries import readable
from simulated_market.world.loader import load_world
from tests.pipeline.conftest import TODAY, Services, opened_services

DAYS = shipped_calendar().last(40, TODAY)
REFUSED = {"kind": "status", "args": {"code": 503}, "call": "*"}


@dataclass
class Upstreams:
    """The upstreams of autumn 2026, and a platform that has loaded the newest trade dates from them."""

    services: Services
    folder: Path

    def open(self, name: str = "kept") -> ashare.Client:
        return ashare.open(f"live:{self.folder / name}")

    @contextmanager
    def without(self, *upstreams: str) -> Iterator[None]:
        self.services.faults.replace([{**REFUSED, "upstream": one} for one in upstreams])
        try:
            yield
        finally:
            self.services.faults.replace([])

    @property
    def codes(self) -> tuple[str, ...]:
        """A stock with an ex-right in the window, one of Beijing, a fund, a convertible bond."""
        listed = self.services.run.ctx.securities()
        events = self.services.run.read("ref_exright", columns=("code", "date", "factor"), since=DAYS[2])
        ex = events[(events["factor"] > 1.001) & (events["date"] <= TODAY)]["code"]
        ex = ex[
            ex.isin(list(listed.loc[(listed["sec_type"] == "stock") & (listed["market"] != "BJ"), "code"]))
        ]
        kinds = (listed["market"] == "BJ", listed["sec_type"] == "etf", listed["sec_type"] == "cb")
        return (str(ex.iloc[0]), *(str(listed.loc[kind, "code"].iloc[0]) for kind in kinds))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstreams]:
    folder = tmp_path_factory.mktemp("live")
    world = load_world("synthetic", "S", state="autumn-2026")
    with opened_services(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, world) as services:
        services.master(TODAY)
        services.fuse("exright", *DAYS)
        services.fuse("kline_daily", *DAYS)
        yield Upstreams(services, folder)


@pytest.fixture
def upstreams(loaded: Upstreams, monkeypatch: pytest.MonkeyPatch) -> Upstreams:
    settings = loaded.services.settings
    values: Mapping[str, Any] = {
        "DATA_SOURCE": "mock",
        "SIMULATOR_URL": settings.simulator_url,
        "SIMULATOR_TDX": settings.simulator_tdx,
        "SAMPLE_NOW": f"{TODAY}T15:45",
        "TENCENT_MIN_INTERVAL": "0",
        "EM_MIN_INTERVAL": "0",
        "EM_JITTER_MAX": "0",
        "EM_JITTER_MIN": "0",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return loaded


@pytest.mark.parametrize("adjust", ["none", "qfq", "hfq"])
def test_one_line_gives_what_a_platform_stores(upstreams: Upstreams, adjust: str) -> None:
    market, stored = upstreams.open(), ashare.open(str(upstreams.folder))
    asked = {"codes": upstreams.codes, "since": DAYS[1], "adjust": adjust}

    ours, theirs = (one.read("kline_daily", **asked) for one in (market, stored))

    assert len(ours) == len(upstreams.codes) * (len(DAYS) - 1)
    # A platform knows limits that a source quotes on the day itself, and the rounding of its first source.
    pd.testing.assert_frame_equal(ours, theirs, check_exact=False, rtol=1e-6)
    assert stored.read("kline_daily", **asked).attrs == {}
    said = ours.attrs["sources"]
    assert set(said) == {"kline_daily", "exright", "name_history"}
    assert [one["src"] for one in said["exright"]] == ["tdx"]
    assert ours.attrs["asked_at"] == f"{TODAY}T15:45:00"
    if adjust == "qfq":
        raw = market.read("kline_daily", codes=upstreams.codes[0], since=DAYS[1])
        ratio = raw["adj_factor"] / raw["adj_factor"].iloc[-1]
        assert ratio.nunique() == 2
        own = ours[ours["code"] == upstreams.codes[0]].reset_index(drop=True)
        pd.testing.assert_series_equal(own["close"], raw["close"] * ratio, check_names=False)


def test_the_next_source_is_asked_and_the_frame_says_why(upstreams: Upstreams) -> None:
    stock, of_beijing, *_ = upstreams.codes
    asked = {"codes": [stock, of_beijing], "since": DAYS[-5], "columns": ["code", "date", "close"]}
    whole = upstreams.open().read("kline_daily", **asked)
    kept = upstreams.open("without the terminal")
    for name in ("exright", "name_history"):
        kept.read(name, codes=[stock, of_beijing], since=DAYS[-5] if name == "exright" else None)

    with upstreams.without("tdx"):
        rest = upstreams.open("without the terminal").read("kline_daily", **asked)

    pd.testing.assert_frame_equal(rest, whole)
    first, *others = rest.attrs["sources"]["kline_daily"]
    assert (first["src"], first["rows"]) == ("tdx", 0)
    assert "closed by the server" in first["reason"]
    # The quote site has no bars of Beijing: the portal is asked for those.
    assert {one["src"] for one in others if one["rows"]} == {"tencent", "eastmoney"}


def test_without_ex_rights_there_are_no_bars_rather_than_wrong_ones(upstreams: Upstreams) -> None:
    market = upstreams.open("nothing kept")
    with upstreams.without("tdx"), pytest.raises(ashare.PlatformError, match="tdx"):
        market.read("kline_daily", codes=upstreams.codes[0], since=DAYS[-5], adjust="qfq")


def test_a_code_that_no_source_answers_for_is_named_and_the_others_are_kept(upstreams: Upstreams) -> None:
    stock, of_beijing, *_ = upstreams.codes
    asked = {"since": DAYS[-5], "columns": ["code", "date", "close"]}
    kept = upstreams.open("partly")
    for name in ("exright", "name_history"):
        kept.read(name, codes=[stock, of_beijing], since=DAYS[-5] if name == "exright" else None)
    # Nobody but the quote site has bars, and it has none of Beijing.
    upstreams.services.faults.replace([
        {"upstream": "tdx", "call": "bars_*", "kind": "reset"},
        {"upstream": "eastmoney", "call": "kline", "kind": "garbage"},
        {"upstream": "sina", "call": "bars", "kind": "garbage"},
    ])  # fmt: skip
    try:
        with pytest.raises(ashare.Unavailable, match=f"no source answered for {of_beijing}: "):
            upstreams.open("partly").read("kline_daily", codes=[stock, of_beijing], **asked)
        assert len(upstreams.open("partly").read("kline_daily", codes=stock, **asked)) == 5
    finally:
        upstreams.services.faults.replace([])


def test_a_feed_that_no_source_gives_costs_its_own_values_alone(upstreams: Upstreams) -> None:
    """Boards, members, index constituents and profiles make an industry row: without the indices the rest is
    there, and the frame names who failed."""
    with upstreams.without("csindex", "cnindex", "sw"):
        rows = upstreams.open("without indices").read("stock_industry", codes=upstreams.codes[0])

    assert len(rows) == 1
    assert rows["industry"].notna().all()
    failed = {one["src"] for one in rows.attrs["sources"]["stock_industry"] if one.get("error")}
    assert failed == {"csindex", "cnindex", "sw"}


def test_answers_are_kept_until_the_next_session(
    upstreams: Upstreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, asked = upstreams.codes[0], {"since": DAYS[2], "adjust": "qfq"}
    first = upstreams.open("own").read("kline_daily", codes=code, **asked)
    with upstreams.without("*"):
        again = upstreams.open("own").read("kline_daily", codes=code, **asked)
        part = upstreams.open("own").read(
            "kline_daily", codes=code, since=DAYS[5], until=DAYS[8], adjust="qfq"
        )
        pd.testing.assert_frame_equal(again, first)
        assert part["close"].tolist() == first["close"].tolist()[3:7]
        # In the column files are the declared types: any engine reads them.
        file = next((upstreams.folder / "own/tables/fusion_kline_daily").glob(f"{code}.parquet"))
        assert str(pd.read_parquet(file)["close"].dtype) == "float64"
        with pytest.raises(ashare.PlatformError):
            upstreams.open("own").read("kline_daily", codes=code, since="2025-01-02")
        following = shipped_calendar().offset(TODAY, 1)
        monkeypatch.setenv("SAMPLE_NOW", f"{following}T15:45")
        with pytest.raises(ashare.PlatformError):
            upstreams.open("own").read("kline_daily", codes=code, **asked)


def test_a_spoilt_file_is_asked_for_again(upstreams: Upstreams) -> None:
    code = upstreams.codes[0]
    first = upstreams.open("spoilt").read("kline_daily", codes=code, since=DAYS[-3])
    file = upstreams.folder / f"spoilt/tables/fusion_kline_daily/{code}.parquet"
    file.write_bytes(file.read_bytes()[:100])
    pd.testing.assert_frame_equal(
        upstreams.open("spoilt").read("kline_daily", codes=code, since=DAYS[-3]), first
    )


def test_what_live_cannot_answer_says_which_address_can(upstreams: Upstreams) -> None:
    market, code = upstreams.open(), upstreams.codes[0]
    with pytest.raises(ashare.InputError, match=r"codes: name them: .*folder, lake or API"):
        market.read("kline_daily", since=DAYS[0])
    with pytest.raises(ashare.InputError, match="codes: '600591' is no code of kline_daily; nearest: "):
        market.read("kline_daily", codes=[code, "600591"], since=DAYS[0])
    for strange in ("../../elsewhere", "600519/x", "."):
        with pytest.raises(ashare.InputError, match="is no code"):
            market.read("kline_daily", codes=strange)
    with pytest.raises(ashare.InputError, match="at most 50"):
        market.read("kline_daily", codes=[f"6000{at:02d}" for at in range(60)])
    with pytest.raises(ashare.InputError, match="fund_etf since 20"):
        market.read("fund_etf", codes=code, since="2020-01-01")
    for call in (
        lambda: market.read("kline_daily", codes=code, as_of=TODAY),
        lambda: market.read("indicator_daily", codes=code),
        lambda: market.read("stock_wide", codes=code),
        lambda: market.screen("收盘价 > 10"),
        lambda: market.backtest(code),
        lambda: market.lineage("kline_daily", code=code, date=TODAY),
    ):
        with pytest.raises(ashare.NotSupported, match=r"open a folder or (lake or )?API"):
            call()


def test_every_notation_and_indices(upstreams: Upstreams) -> None:
    market, code = upstreams.open(), upstreams.codes[0]
    read = {"since": DAYS[-2], "columns": ["code", "close"]}
    written = f"{'sh' if code.startswith('6') else 'sz'}{code}"
    assert market.read("kline_daily", codes=written, **read)["code"].tolist() == [code] * 2
    assert market.read("index_daily", codes="沪深300", **read)["code"].tolist() == ["sh000300"] * 2


@pytest.mark.full
def test_other_datasets_are_read_in_the_same_way(upstreams: Upstreams) -> None:
    """Every table that upstreams alone give is read, or says that no source serves this."""
    market, code = upstreams.open("others"), upstreams.codes[0]
    registry = builtin_registry()
    names = market.datasets()["name"].tolist()
    assert {"kline_daily", "exright", "dividend", "finance_indicator", "index_daily", "announcement",
            "top_holders", "minute_kline"} < set(names)  # fmt: skip
    filled = set()
    for name in names:
        if name in ("macro_indicator", "industry_valuation", "trade_calendar"):
            continue  # seconds of market-wide calls; they have tests of their own
        table = readable(registry)[name]
        by_code = "code" in table.names and registry.of_table(table.name).of_stocks
        try:
            rows = market.read(
                name, codes=code if by_code else None, since=None if by_code else _recent(table)
            )
        except ashare.Unavailable:  # of past dates, or of one code, nobody has it
            continue
        assert list(rows.columns) == [spec.name for spec in table.columns]
        assert len(rows) == 0 or rows[list(table.key)].notna().all(axis=None)
        filled |= {name} if len(rows) else set()
    assert len(filled) >= 20


def _recent(table: Any) -> str | None:
    return DAYS[-3] if table.date_column else None
