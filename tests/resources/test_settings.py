"""Defaults equal the specification's table of runtime constants, copied here by hand."""

import ast
import os
import subprocess
import sys
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock, SystemClock
from core.errors import InputError
from platform_assets.task_table import BY_KEY
from resources.composition import open_context
from resources.settings import EOD_TASKS, Settings, load_settings
from resources.transport.settings import (
    EXCHANGE_BREAKER,
    PUSH2EX_BREAKER,
    TransportSettings,
    transport_settings,
)
from resources.upstreams.factory import make_clients
from resources.upstreams.fetch_context import FetchContext

ROOT = Path(__file__).parents[2]

RESERVED: dict[str, str] = {}
"""Settings without a reader, and why. Remove a setting from here when its feature is built."""


def read_names() -> set[str]:
    """Names that the code reads as an attribute of something."""
    found = set()
    for package in ("ashare", "platform_assets", "resources", "schedules", "serving_api", "simulated_market"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    found.add(node.attr)
    return found


def test_every_setting_has_a_reader() -> None:
    names = {row.name for row in fields(Settings)} - {"explicit"}
    unread = names - read_names()

    assert unread == set(RESERVED)


def test_a_task_that_the_settings_keep_off_says_by_which() -> None:
    settings = load_settings({"SCHEDULER_EOD_SYNC": "false"})

    assert settings.keeps_off("fusion_kline_sync") == "SCHEDULER_EOD_SYNC is false"
    assert settings.keeps_off("news_sync") is None
    assert BY_KEY.keys() >= EOD_TASKS
    assert [key for key in BY_KEY if load_settings({}).keeps_off(key)] == []


def test_a_throttle_upside_down_is_refused() -> None:
    with pytest.raises(InputError, match="EOD_STOCK_THROTTLE_MAX"):
        load_settings({"EOD_STOCK_THROTTLE_MIN": "2", "EOD_STOCK_THROTTLE_MAX": "1"})


def test_pages_of_stocks_are_spaced_as_the_settings_say() -> None:
    waited: list[float] = []
    ctx = FetchContext(
        clock=FrozenClock(datetime(2026, 8, 21, 16)), calendar=shipped_calendar(), makers={},
        throttle=(0.5, 1.5), sleeper=waited.append,
    )  # fmt: skip
    codes = ["600519", "000001", "000002", "000858"]

    assert ctx.each(str.upper, codes, pages=True) == codes
    assert len(waited) == 3
    assert all(0.5 <= one <= 1.5 for one in waited)
    assert (ctx.each(str.upper, codes), ctx.each(str.upper, codes[:1], pages=True)) == (codes, codes[:1])
    assert len(waited) == 3
    simulated = {"SIMULATOR_URL": "http://127.0.0.1:1", "SIMULATOR_TDX": "127.0.0.1:1"}
    real, mock = (
        open_context(load_settings({"DATA_SOURCE": source, **simulated}), ctx.clock, ctx.calendar)
        for source in ("real", "mock")
    )
    assert (real._throttle, mock._throttle) == ((0.5, 1.5), (0.0, 0.0))
    for one in (real, mock):
        one.close()


SPECIFIED: dict[str, Any] = {
    "DB_HOST": "localhost",
    "DB_PORT": 3306,
    "DB_USER": "root",
    "DB_POOL_SIZE": 20,
    "DB_MAX_OVERFLOW": 10,
    "DB_POOL_TIMEOUT": 30.0,
    "DATA_SOURCE": "real",
    "EM_MIN_INTERVAL": 0.3,
    "EM_JITTER_MIN": 0.1,
    "EM_JITTER_MAX": 0.5,
    "TENCENT_MIN_INTERVAL": 0.2,
    "XQ_MIN_INTERVAL": 1.0,
    "HOST_FAILURE_THRESHOLD": 2,
    "STOCK_CHANGES_CONCURRENCY": 3,
    "HTTP_MAX_CONNECTIONS": 20,
    "HTTP_MAX_KEEPALIVE": 10,
    "HTTP_KEEPALIVE_EXPIRY": 30.0,
    "HTTP_TIMEOUT": 10.0,
    "HTTP_CONNECT_TIMEOUT": 5.0,
    "RETRY_BUDGET_MAX": 6,
    "EOD_STOCK_THROTTLE_MIN": 0.5,
    "EOD_STOCK_THROTTLE_MAX": 1.5,
    "VALUATION_THS_EPS_ENABLED": True,
    "EM_BREAKER_FAILURE_THRESHOLD": 4,
    "EM_BREAKER_COOLDOWN_SEC": 120.0,
    "ENABLE_SCHEDULER": True,
    "SCHEDULER_WARMUP_MARKET": True,
    "SCHEDULER_EOD_SYNC": True,
    "SCHEDULER_BASEINFO_REFRESH": True,
    "SCHEDULER_BASEINFO_INTERVAL": 600,
    "JWT_TTL_HOURS": 24.0,
    "AI_LLM_MAX_RETRIES": 2,
    "AI_LLM_RETRY_DELAY": 1.0,
    "WEB_SEARCH_PROVIDER": "auto",
    "WEB_SEARCH_MAX_RESULTS": 6,
    "MODEL_WEB_SEARCH": True,
    "ENABLE_EMAIL_NOTIFICATION": False,
    "SMTP_PORT": 465,
    "ENABLE_PORTFOLIO_MONITOR": True,
    "PRICE_ALERT_THRESHOLD": 5.0,
    "VOLUME_ALERT_RATIO": 2.0,
    "STOP_LOSS_PROXIMITY": 3.0,
    "LOG_FORMAT": "json",
    "LOG_LEVEL": "INFO",
    # Named elsewhere in the specification.
    "ADMIN_SEED_USERNAME": "admin",
    "ADMIN_SEED_PASSWORD": "",
    "RATE_LIMIT_PER_MIN": 120,
}


def load(tmp_path: Path, **environment: str) -> Settings:
    return load_settings(environment, dotenv=tmp_path / "none")


@pytest.mark.parametrize("name", SPECIFIED)
def test_a_default_equals_the_specification(name: str, tmp_path: Path) -> None:
    value = getattr(load(tmp_path), name.lower())

    assert (value, type(value)) == (SPECIFIED[name], type(SPECIFIED[name]))


def test_the_application_database_has_a_name(tmp_path: Path) -> None:
    assert load(tmp_path).db_name


def test_the_transport_has_the_specified_numbers_too(tmp_path: Path) -> None:
    """Its own defaults, what it takes from the settings, and the breakers that have no variable."""
    numbers = transport_settings(load(tmp_path))

    assert numbers == TransportSettings()
    breakers = {rule.name: (rule.threshold, rule.cooldown_sec) for rule in numbers.breakers()}
    assert breakers["em_breaker"] == (4, 120.0)
    assert breakers[PUSH2EX_BREAKER] == (2, 30.0)
    assert breakers[EXCHANGE_BREAKER] == (5, 600.0)
    other = numbers.family("some.site")
    assert (other.jitter_min, other.jitter_max) == (0.3, 1.0)


def test_a_changed_setting_reaches_the_transport(tmp_path: Path) -> None:
    numbers = transport_settings(load(tmp_path, EM_MIN_INTERVAL="0.7", HTTP_TIMEOUT="3"))

    assert (numbers.em_min_interval, numbers.http_timeout) == (0.7, 3.0)
    assert numbers.family("eastmoney").gap == 0.7


@pytest.mark.parametrize("value", ["live", "REAL", "", "Mock"])
def test_an_unknown_data_source_refuses_to_start(value: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        load(tmp_path, DATA_SOURCE=value)

    assert refused.value.message == f"DATA_SOURCE: {value!r} is none of real, mock, direct, vendor"


def test_the_reserved_data_source_is_not_implemented(tmp_path: Path) -> None:
    settings = load(tmp_path, DATA_SOURCE="vendor", DATA_DIR=str(tmp_path))
    calendar = shipped_calendar()
    clock = FrozenClock(datetime(2026, 8, 21, 15, 30))

    for opened in (open_context, make_clients):
        with pytest.raises(NotImplementedError, match=r"^DATA_SOURCE=vendor is reserved"):
            opened(settings, clock, calendar)


@pytest.mark.parametrize("module", ["serving_api", "schedules.supervisor.__main__"])
def test_a_start_with_the_reserved_data_source_is_refused_in_one_line(module: str, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "DATA_SOURCE": "vendor", "DATA_DIR": str(tmp_path), "ENV_FILE": "none"}

    done = subprocess.run(
        [sys.executable, "-m", module], env=env, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 1
    assert done.stderr == "DATA_SOURCE=vendor is reserved and not implemented\n"


def test_secrets_are_masked_in_the_only_dump(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        DB_PASSWORD="db-secret",
        WAREHOUSE_URL="mysql+pymysql://root:url-secret@db/ashare",
        ADMIN_SEED_PASSWORD="admin-secret",
    )

    shown = str(settings.masked())
    assert "-secret" not in shown
    assert set(settings.secrets) >= {"db-secret", "url-secret", "admin-secret"}


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("RATE_LIMIT_PER_MIN", "many", "'many' is no whole number"),
        ("RATE_LIMIT_PER_MIN", "-3", "-3 is negative"),
        ("HTTP_TIMEOUT", "0", "must not be 0"),
        ("EM_JITTER_MAX", "nan", "'nan' is no number"),
        ("SAMPLE_HISTORY_DATES", "0", "must not be 0"),
        ("SMTP_PORT", "70000", "70000 is no port"),
        ("SAMPLE_NOW", "2026-08-21T15:30+08:00", "has a time zone"),
    ],
)
def test_a_number_or_time_that_makes_no_sense_is_refused_by_its_name(
    tmp_path: Path, name: str, value: str, problem: str
) -> None:
    with pytest.raises(InputError, match=f"^{name}: .*{problem}"):
        load_settings({name: value}, dotenv=tmp_path / "none")


def test_zero_is_a_number_where_it_means_something(tmp_path: Path) -> None:
    assert load_settings({"RATE_LIMIT_PER_MIN": "0"}, dotenv=tmp_path / "none").rate_limit_per_min == 0


def test_a_dotenv_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.env"
    path.write_bytes(b"API_PORT=\xff\xfe")

    with pytest.raises(InputError, match=r"^ENV_FILE: .*settings\.env cannot be read"):
        load_settings({}, dotenv=path)


def test_the_scheduler_says_why_it_is_idle(tmp_path: Path) -> None:
    friday = datetime(2026, 8, 21, 15, 30)
    off = load(tmp_path, ENABLE_SCHEDULER="false")

    assert load(tmp_path).why_idle(SystemClock()) is None
    assert off.why_idle(SystemClock()) == "ENABLE_SCHEDULER is false"
    assert load(tmp_path).why_idle(FrozenClock(friday)) == "the market clock is frozen at 2026-08-21 15:30"
