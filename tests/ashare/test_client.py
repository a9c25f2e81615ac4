"""The research client: one answer from a folder, a lake and an API, over a real socket."""

import doctest
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
import uvicorn

import ashare
from ashare.client import client as client_module
from ashare.client import frames as frames_module
from ashare.client.backends import NotSupported
from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from core.errors import Forbidden, InputError, Unavailable
from platform_assets.research.queries import readable
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.settings import Settings
from serving_api.app import create_app
from serving_api.auth.credentials import Passwords
from serving_api.db.table_versions import POLL_S
from tests.ashare.conftest import DAYS, OPEN_ITEM, CommandLine
from tests.serving_api.market import NOW, bar, put

PASSWORD = "a password of the tests"
FOLDER, LAKE, API = "folder", "lake", "API"
FORMER = "003061"


def login(address: str) -> str:
    import httpx

    body = {"username": "admin", "password": PASSWORD}
    token: str = httpx.post(f"{address}/api/v1/auth/login", json=body).json()["access_token"]
    return token


@pytest.fixture
def clients(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ashare.Client]]:
    """The same rows behind the three kinds of address: bars of two codes, one of which was ex-right and whose
    first versions were corrected. The shell has a proxy that leads nowhere."""
    kline = cli.warehouse.table("fusion_kline_daily")
    factors = zip(DAYS, (1.0, 1.0, 1.25), strict=True)
    put(cli.warehouse, kline, [bar("300750", day, 20.0, factor=factor) for day, factor in factors])
    changes = cli.warehouse.table("ref_code_change")
    put(cli.warehouse, changes, [{"code": FORMER, "new_code": "600519", "date": DAYS[1], "market": "SH"}])
    lake = Lake(cli.folder / "data" / "lake")
    for name in ("fusion_kline_daily", "fusion_fund_flow", "ref_code_change"):
        Publisher(cli.warehouse, lake).publish(cli.warehouse.table(name))
    settings = Settings(
        data_source="mock",
        sample_state="calm",
        data_dir=str(cli.folder / "data"),
        warehouse_url=cli.url,
        admin_seed_password=PASSWORD,
    )
    app = create_app(settings, clock=FrozenClock(NOW), passwords=Passwords(iterations=10))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    patience = time.monotonic() + 20
    while not server.started and time.monotonic() < patience:
        time.sleep(0.02)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    token = login(address)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    opened = {
        FOLDER: ashare.open(str(cli.folder / "data")),
        LAKE: ashare.open(f"lake:{lake.url}"),
        API: ashare.open(address, token=token),
    }
    yield opened
    for one in opened.values():
        one.close()
    server.should_exit = True
    thread.join(timeout=10)


def everywhere(clients: dict[str, ashare.Client], question: Any) -> Any:
    """The answer, which is the same everywhere."""
    first, *others = [question(one) for one in clients.values()]
    for other in others:
        pd.testing.assert_frame_equal(first, other)
    return first


def test_the_same_call_gives_the_same_frame(clients: dict[str, ashare.Client]) -> None:
    whole = everywhere(clients, lambda one: one.read("kline_daily"))
    assert len(whole) == 9
    assert list(whole["date"].unique()) == [pd.Timestamp(day) for day in DAYS]
    assert str(whole["volume"].dtype) == "int64"

    part = everywhere(
        clients,
        lambda one: one.read(
            "fusion_kline_daily",
            codes="600519",
            since=date(2026, 8, 20),
            until="20260820",
            columns=["close", "src"],
        ),
    )
    assert part.to_dict("records") == [{"close": 11.0, "src": "tencent"}]

    before = datetime(2026, 8, 21, 15, 10)
    then = everywhere(
        clients, lambda one: one.read("kline_daily", codes=["600519"], columns=["close"], as_of=before)
    )
    assert then["close"].tolist() == [10.0, 10.0, 10.0]
    assert everywhere(clients, lambda one: one.read("fund_flow", since="2026-01-01")).empty


def test_prices_are_adjusted_to_the_newest_bar_that_is_known(clients: dict[str, ashare.Client]) -> None:
    def closes(**how: Any) -> list[float]:
        read = {"codes": ["300750"], "columns": ["close", "volume"], **how}
        found = everywhere(clients, lambda one: one.read("kline_daily", **read))
        assert found["volume"].tolist() == [1000] * len(found)
        values: list[float] = found["close"].tolist()
        return values

    assert closes() == [20.0, 20.0, 20.0]
    assert closes(adjust="hfq") == [20.0, 20.0, 25.0]
    assert closes(adjust="qfq") == [16.0, 16.0, 20.0]
    # The factor of the newest bar counts, although the window ends before it.
    assert closes(adjust="qfq", until=DAYS[1]) == [16.0, 16.0]
    panel = clients[LAKE].panel("kline_daily", ["close"], since=DAYS[0], adjust="qfq")
    assert panel["close"]["300750"].tolist() == [16.0, 16.0, 20.0]


def test_a_former_code_is_answered_with_the_one_of_today(clients: dict[str, ashare.Client]) -> None:
    read = {"columns": ["code", "close"], "since": DAYS[2]}
    said = [{"from": FORMER, "to": "600519", "date": DAYS[1]}]

    found = everywhere(clients, lambda one: one.read("kline_daily", codes=[FORMER, "600519"], **read))

    assert found["code"].tolist() == ["600519"]
    for one in clients.values():
        assert one.read("kline_daily", codes=FORMER, **read).attrs == {"renumbered": said}
        assert one.read("kline_daily", codes="600519", **read).attrs == {}
        arrow = one.read("kline_daily", codes=FORMER, frames="arrow", **read)
        assert json.loads(arrow.schema.metadata[b"renumbered"]) == said
        panel = one.panel("kline_daily", "close", since=DAYS[0], codes=[FORMER])
        assert (panel.codes, panel.notes["renumbered"]) == (("600519",), said)
        assert panel["close"].attrs == {"renumbered": said}
    for one in (clients[FOLDER], clients[API]):  # a lake without the list of securities cannot know
        assert one.backtest(FORMER, days=60)["renumbered"] == said
        with pytest.raises(InputError, match="codes: 430999 is of a range that Beijing replaced"):
            one.read("kline_daily", codes="430999")


@pytest.mark.parametrize("code", ["600519", "600519.SH", "sh600519", "SH600519", "1.600519", " 600519 "])
def test_a_code_is_read_in_every_notation(clients: dict[str, ashare.Client], code: str) -> None:
    found = everywhere(clients, lambda one: one.read("kline_daily", codes=[code], columns=["code", "close"]))
    assert found["code"].tolist() == ["600519"] * 3
    assert everywhere(clients, lambda one: one.read("kline_daily", codes=code)).equals(
        everywhere(clients, lambda one: one.read("kline_daily", codes="600519"))
    )


@pytest.mark.parametrize("code", ["000300", "000300.SH", "sh000300", "沪深300"])
def test_an_index_is_read_in_every_notation(
    clients: dict[str, ashare.Client], cli: CommandLine, code: str
) -> None:
    indices = cli.warehouse.table("fusion_index_daily")
    levels = [(symbol, day) for symbol in ("sh000001", "sh000300") for day in DAYS]
    put(cli.warehouse, indices, [{"code": one, "date": day, "close": 4000.0} for one, day in levels])
    time.sleep(POLL_S)
    for one in (clients[FOLDER], clients[API]):
        assert one.read("index_daily", codes=code, columns=["close"])["close"].tolist() == [4000.0] * 3
        # The number alone names the index where indices are held, and the bank where stocks are.
        assert set(one.read("index_daily", codes="000001")["code"]) == {"sh000001"}
        assert set(one.read("kline_daily", codes="000001")["code"]) == {"000001"}
        with pytest.raises(InputError, match="sh000001 is the index 上证指数: read index_daily"):
            one.read("kline_daily", codes="000001.SH")


def test_a_code_that_nobody_knows_is_an_error_with_the_nearest(
    clients: dict[str, ashare.Client], cli: CommandLine
) -> None:
    master = cli.warehouse.table("fusion_stock_master")
    listed = {"market": "SH", "sec_type": "stock", "list_status": "L"}
    put(cli.warehouse, master, [{"code": "600519", "name": "贵州茅台", **listed},
                                {"code": "600520", "name": "三佳科技", **listed}])  # fmt: skip
    time.sleep(POLL_S)
    for one in clients.values():
        with pytest.raises(InputError, match=r"codes: '600591' is no code of kline_daily"):
            one.read("kline_daily", codes=["600519", "600591"])
        with pytest.raises(InputError, match=r"codes: '600519\.SZ' is no number of SZ; nearest: 600519\.SH"):
            one.read("kline_daily", codes=["600519.SZ"])
    for one in (clients[FOLDER], clients[API]):
        with pytest.raises(InputError, match="nearest: 600519 贵州茅台"):
            one.panel("kline_daily", "close", since=DAYS[0], codes=["600591"])
        # Listed, and without a bar so far: no rows are the answer.
        assert one.read("kline_daily", codes="600520").empty


def test_every_dataset_is_read_or_says_why_not(clients: dict[str, ashare.Client], cli: CommandLine) -> None:
    folder, lake, api = clients.values()
    names = folder.datasets()["name"].tolist()
    published = Lake(cli.folder / "data" / "lake").names()
    missing = [name for name in builtin_registry().datasets if name not in names]
    assert missing == ["notes", "share_capital"]
    for name in missing:
        with pytest.raises(InputError, match=f"{name} has more than one table: "):
            folder.read(name)
    for name in names:
        here, there = folder.read(name), api.read(name)
        pd.testing.assert_frame_equal(here, there)
        units = {column["name"] for column in folder.describe(name)["columns"]}
        assert set(here.columns) == units
        if readable(builtin_registry())[name].name not in published:
            with pytest.raises(InputError, match="published"):
                lake.read(name)


def test_errors_of_the_client_are_its_own_names() -> None:
    assert ashare.InputError is InputError
    assert {ashare.Unavailable, ashare.NotSupported, ashare.NotFound} < set(
        ashare.PlatformError.__subclasses__()
    )


def test_frames_say_that_their_factor_is_provisional(
    clients: dict[str, ashare.Client], cli: CommandLine
) -> None:
    ledger = cli.warehouse.table("ref_exright_item")
    put(cli.warehouse, ledger, [OPEN_ITEM])
    Publisher(cli.warehouse, Lake(cli.folder / "data" / "lake")).publish(ledger)
    time.sleep(POLL_S)  # an API on MariaDB looks for new versions so often
    close, said = {"columns": ["close"]}, {"factor": "provisional"}
    for one in clients.values():
        assert one.read("kline_daily", codes="300750", adjust="qfq", **close).attrs == said
        assert one.read("kline_daily", codes="300750").attrs == said  # adj_factor
        assert one.read("kline_daily", codes="300750", **close).attrs == {}
        assert one.read("kline_daily", codes="600519", adjust="qfq", **close).attrs == {}
        assert one.read("kline_daily", adjust="qfq", as_of=DAYS[0], **close).attrs == {}
        arrow = one.read("kline_daily", adjust="hfq", frames="arrow", **close)
        assert json.loads(arrow.schema.metadata[b"factor"]) == "provisional"
        panel = one.panel("kline_daily", "close", since=DAYS[0], adjust="qfq")
        assert panel["close"].attrs == said
    for one in (clients[FOLDER], clients[API]):
        assert one.backtest("300750", days=60)["factor"] == "provisional"
        assert "factor" not in one.backtest("600519", days=60)

    put(cli.warehouse, ledger, [{**OPEN_ITEM, "status": "closed", "closed_on": DAYS[2]}])
    Publisher(cli.warehouse, Lake(cli.folder / "data" / "lake")).publish(ledger)
    time.sleep(POLL_S)

    for one in clients.values():
        assert one.read("kline_daily", adjust="qfq", **close).attrs == {}


def test_panels_are_matrices_of_dates_and_codes(clients: dict[str, ashare.Client]) -> None:
    panels = [one.panel("kline_daily", ["close", "volume"], since=DAYS[1]) for one in clients.values()]

    for panel in panels:
        assert panel.dates == DAYS[1:]
        assert panel.codes == ("000001", "300750", "600519")
        np.testing.assert_array_equal(panel.values["close"], [[10.0, 20.0, 11.0]] * 2)
    with pytest.raises(InputError, match="close"):
        panels[0]["closing"]
    with pytest.raises(InputError, match=r"columns: .*no numbers"):
        clients[FOLDER].panel("kline_daily", "market", since=DAYS[0])


def test_frames_of_other_libraries_hold_the_same(clients: dict[str, ashare.Client]) -> None:
    table = clients[API].read("kline_daily", frames="arrow", columns=["code", "date", "volume"])
    assert table.schema.field("volume").metadata[b"unit"] == b"sh"
    polars = clients[LAKE].read("kline_daily", frames="polars", columns=["code", "date", "volume"])
    assert polars.rows() == [tuple(row.values()) for row in table.to_pylist()]
    with pytest.raises(InputError, match=r"frames: .*polars"):
        ashare.open("data", frames="polar")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"table": "kline_dialy"}, "table: 'kline_dialy' .*nearest: kline_daily"),
        ({"table": "kline_daily", "columns": ["closee"]}, "columns: 'closee' .*nearest: close"),
        ({"table": "kline_daily", "since": "last week"}, "since: 'last week'"),
        ({"table": "kline_daily", "until": "2026-02-30"}, "until: '2026-02-30'"),
        (
            {"table": "kline_daily", "since": "2026-08-21", "until": "2026-08-20"},
            "since: 2026-08-21 lies after",
        ),
        ({"table": "kline_daily", "adjust": "qff"}, "adjust: 'qff' .*nearest: qfq"),
        ({"table": "fund_flow", "adjust": "qfq"}, "adjust: .*fusion_kline_daily"),
        ({"table": "indicator_daily", "as_of": "2026-08-20"}, "as_of: .*keeps no versions"),
        ({"table": "kline_daily", "as_of": "noon"}, "as_of: 'noon'"),
        ({"table": "kline_daily", "codes": [1]}, "codes: 1 is no text like '000001'"),
    ],
)
def test_a_bad_argument_is_named_with_the_nearest_value(
    clients: dict[str, ashare.Client], call: dict[str, Any], message: str
) -> None:
    for one in clients.values():
        with pytest.raises(InputError, match=message):
            one.read(**call)


def test_what_an_address_cannot_answer_says_which_can(clients: dict[str, ashare.Client]) -> None:
    with pytest.raises(NotSupported, match="open a folder or API"):
        clients[LAKE].lineage("kline_daily", code="600519", date=DAYS[0])
    with pytest.raises(NotSupported, match="screen"):
        clients[LAKE].screen("close > 1")
    with pytest.raises(NotSupported, match="backtest"):
        clients[LAKE].backtest("600519")
    with pytest.raises(InputError, match="not published"):
        clients[LAKE].read("stock_master")


def test_questions_have_one_answer_in_a_folder_and_an_api(clients: dict[str, ashare.Client]) -> None:
    folder, api = clients[FOLDER], clients[API]
    key = {"code": "600519", "date": DAYS[0]}
    ours, theirs = (one.lineage("kline_daily", "close", **key) for one in (folder, api))
    assert ours == theirs
    assert ours["columns"]["close"]["value"] == 11.0
    with pytest.raises(InputError, match="code, date"):
        folder.lineage("kline_daily", code="600519")

    assert folder.backtest("600519", days=60) == api.backtest("600519", days=60)
    for one in (folder, api):
        with pytest.raises(InputError, match="strategy"):
            one.backtest("600519", "no_such")
    pd.testing.assert_frame_equal(folder.screen("收盘价 > 1"), api.screen("收盘价 > 1"))


def test_descriptions_say_units_sources_and_freshness(clients: dict[str, ashare.Client]) -> None:
    abouts = [one.describe("kline_daily") for one in clients.values()]
    assert abouts[0] == abouts[1] == abouts[2]
    assert abouts[0]["freshness"] == {"newest": DAYS[-1], "rows": 9}
    units = {column["name"]: column["unit"] for column in abouts[0]["columns"]}
    assert (units["volume"], units["amount"], units["change_pct"]) == ("sh", "CNY", "pct")
    assert set(clients[LAKE].datasets()["name"]) == {"kline_daily", "fund_flow", "code_change"}
    assert "fund_flow" in set(clients[API].datasets()["name"])


def test_the_examples_of_the_docstrings_show_what_comes_back(clients: dict[str, ashare.Client]) -> None:
    market = clients[FOLDER]
    names = {"market": market, "np": np, **vars(frames_module)}
    for module in (client_module, frames_module):
        for test in doctest.DocTestFinder(recurse=True).find(module, extraglobs=names):
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0, test.name


def test_a_token_is_asked_for_and_an_absent_api_is_named(clients: dict[str, ashare.Client]) -> None:
    address = repr(clients[API]).split("'")[1]
    with pytest.raises(Forbidden, match="token"):
        ashare.open(address).read("kline_daily")
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9"):
        ashare.open("http://127.0.0.1:9").read("kline_daily")
    with pytest.raises(InputError, match="token"):
        ashare.open("lake:somewhere", token="x")
    with pytest.raises(InputError, match="address"):
        ashare.open("ftp://nothing")


def test_importing_loads_nothing_of_the_server_and_rows_need_nothing_of_it(cli: CommandLine) -> None:
    script = """
import sys
import ashare
heavy = [name for name in ("pandas", "pyarrow", "numpy", "sqlalchemy", "pydantic") if name in sys.modules]
assert not heavy, heavy

class Blocked:
    names = "dagster fastapi starlette uvicorn httpx mcp openai anthropic lxml numba grpc".split()
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Blocked())
market = ashare.open("data")
rows = market.read("kline_daily", adjust="qfq")
assert len(rows) == 6, rows
market.panel("kline_daily", "close", since="2026-08-19")
market.describe("fund_flow"), market.datasets()
try:
    market.screen("close > 1")
except Exception as error:
    assert "'.[server]'" in str(error), error
else:
    raise AssertionError("screened without the server")
loaded = sorted({name.partition(".")[0] for name in sys.modules} & set(Blocked.names))
assert not loaded, loaded
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=cli.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
