"""Every setting of the project: one table, typed, validated, masked.

Precedence: process environment > `.env` in the working folder > value stored through
`PUT /datamgr/config` (allow-listed keys only) > default. Defaults equal the specification's table.
A value that does not parse refuses to start and names the variable.
"""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from core.clock import Clock
from core.errors import InputError

DATA_SOURCES = ("real", "mock", "direct", "vendor")
ROLES = ("all", "web", "worker")
SAMPLE_STATES = ("autumn-2026", "calm")
LOG_FORMATS = ("json", "text")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
EOD_TASKS = frozenset({"fusion_kline_sync", "fusion_daily_sync", "fusion_wide_sync"})
"""The scheduled tasks that load a trade date after its close; `eod_core` loads the same by hand."""
_ORIGIN = re.compile(r"https?://[^/?#\s]+|\*")
LAKE_FOLDER = "lake"
"""Of the published tables in the data folder, where LAKE_URL names no other place."""
NOT_ZERO = (
    "db_pool_size",
    "host_failure_threshold",
    "stock_changes_concurrency",
    "http_max_connections",
    "http_timeout",
    "http_connect_timeout",
    "em_breaker_failure_threshold",
    "scheduler_baseinfo_interval",
    "web_search_max_results",
    "sample_history_dates",
    "api_processes",
)
"""Numbers that would stop the platform at 0; every other one may be 0. None is negative."""


def _setting(default: Any, note: str = "", *, secret: bool = False, stored: bool = False) -> Any:
    """One row of the table: default, note, whether its value is secret, whether PUT config may set it."""
    return field(default=default, metadata={"note": note, "secret": secret, "stored": stored})


@dataclass(frozen=True)
class Settings:
    """All settings; the environment name of a field is its name in upper case."""

    # database
    db_host: str = _setting("localhost", "MariaDB/MySQL host; any DB_* variable selects that engine")
    db_port: int = _setting(3306)
    db_user: str = _setting("root")
    db_password: str = _setting("", secret=True)
    db_name: str = _setting("ashare", "application database")
    warehouse_url: str = _setting("", "SQLAlchemy URL with an explicit driver; wins over DB_*", secret=True)
    db_pool_size: int = _setting(20)
    db_max_overflow: int = _setting(10)
    db_pool_timeout: float = _setting(30.0, "seconds")
    dagster_postgres_url: str = _setting("", "Dagster's own storage in production", secret=True)
    broker_url: str = _setting(
        "", "AMQP address of the broker of step workers; empty: steps run in the run's process", secret=True
    )
    broker_password: str = _setting("", "of the user in BROKER_URL, where the URL has none", secret=True)
    # upstreams
    data_source: str = _setting("real", "real, mock, direct (first source only), vendor (reserved)")
    em_min_interval: float = _setting(0.3, "seconds between finance-portal requests")
    em_jitter_min: float = _setting(0.1)
    em_jitter_max: float = _setting(0.5)
    tencent_min_interval: float = _setting(0.2)
    xq_min_interval: float = _setting(1.0)
    host_failure_threshold: int = _setting(2, "consecutive failures before a host cools down")
    stock_changes_concurrency: int = _setting(3)
    http_max_connections: int = _setting(20)
    http_max_keepalive: int = _setting(10)
    http_keepalive_expiry: float = _setting(30.0)
    http_timeout: float = _setting(10.0)
    http_connect_timeout: float = _setting(5.0)
    retry_budget_max: int = _setting(6, "external calls per user request")
    eod_stock_throttle_min: float = _setting(0.5, "seconds before each page of a stock in a per-code fetch")
    eod_stock_throttle_max: float = _setting(1.5)
    valuation_ths_eps_enabled: bool = _setting(True)
    em_breaker_failure_threshold: int = _setting(4)
    em_breaker_cooldown_sec: float = _setting(120.0)
    tdx_hosts: str = _setting("", "comma list host:port of the terminal protocol; empty = built-in list")
    simulator_url: str = _setting("", "base address of the simulated market; set by the supervisor")
    simulator_tdx: str = _setting("", "comma list host:port of the simulated terminal; set by the supervisor")
    # scheduler
    enable_scheduler: bool = _setting(True)
    scheduler_warmup_market: bool = _setting(True, "samples of the market's breadth in a session")
    scheduler_eod_sync: bool = _setting(True, "the scheduled syncs of bars, events and the wide table")
    scheduler_baseinfo_refresh: bool = _setting(True, "company profiles in turn, in a session")
    scheduler_baseinfo_interval: int = _setting(600, "seconds, trading hours only")
    command_wait_sec: float = _setting(30.0, "how long the API waits for a command's result")
    # accounts
    jwt_ttl_hours: float = _setting(24.0)
    jwt_issuer: str = _setting("ashare-platform")
    jwt_audience: str = _setting("ashare-platform-api")
    admin_seed_username: str = _setting("admin")
    admin_seed_password: str = _setting("", "empty skips the seed admin", secret=True)
    admin_seed_email: str = _setting("admin@example.invalid")
    rate_limit_per_min: int = _setting(120, "requests per minute and IP under /api/; 0 = off")
    metrics: str = _setting("off", "who may read /metrics: off, loopback (callers of this machine), admin")
    trusted_proxies: str = _setting("", "comma list of addresses whose X-Forwarded-For is trusted")
    max_connections_per_address: int = _setting(256, "to a listener, trusted proxies aside; 0 = any number")
    cors_origins: str = _setting("", "origins whose pages may call the API, comma list; * is every one")
    mcp_allowed_hosts: str = _setting(
        "", "comma list of names under which /mcp may be asked; addresses in digits and localhost always may"
    )
    notifications_require_login: bool = _setting(False)
    # AI and search
    anthropic_api_key: str = _setting(
        "", "key of the provider `anthropic`; a comma list is a pool", secret=True
    )
    anthropic_model: str = _setting("claude-sonnet-5-5", "model of the provider `anthropic`")
    anthropic_fallback_models: str = _setting("", "comma list: models of `anthropic` that are asked next")
    anthropic_base_url: str = _setting("", "empty: the address of the official library")
    openai_api_key: str = _setting("", "key of the provider `openai`; a comma list is a pool", secret=True)
    openai_model: str = _setting("", "model of the provider `openai`; without one it is not asked")
    openai_base_url: str = _setting("", "any OpenAI-compatible address; empty: https://api.openai.com/v1")
    ai_llm_max_retries: int = _setting(2, "retries of a call to a model after a timeout, 429 or 5xx")
    ai_llm_retry_delay: float = _setting(1.0, "seconds before the first retry; doubled for each further one")
    web_search_provider: str = _setting(
        "auto", "auto (tavily where its key is set, then duckduckgo), tavily, duckduckgo"
    )
    tavily_api_key: str = _setting("", "key of the search provider tavily", secret=True)
    web_search_max_results: int = _setting(6, stored=True)
    model_web_search: bool = _setting(True, stored=True)
    # notifications and the portfolio monitor
    enable_email_notification: bool = _setting(False)
    smtp_port: int = _setting(465, "465 = implicit TLS, others STARTTLS")
    enable_portfolio_monitor: bool = _setting(True, stored=True)
    price_alert_threshold: float = _setting(5.0, "percent", stored=True)
    volume_alert_ratio: float = _setting(2.0, stored=True)
    stop_loss_proximity: float = _setting(3.0, "percent", stored=True)
    # process
    app_role: str = _setting("all", "all, web, worker; anything else means all")
    data_dir: str = _setting("data", "warehouse, Dagster history, secrets, payloads, logs")
    api_host: str = _setting("127.0.0.1")
    api_port: int = _setting(8000)
    api_processes: int = _setting(1, "API processes behind API_PORT")
    api_check_port: int = _setting(0, "a loopback port of one API process; set by the supervisor")
    step_workers: int = _setting(2, "step workers that the supervisor starts where BROKER_URL is set")
    dagster_host: str = _setting("127.0.0.1", "where the API and the worker find the Dagster UI")
    dagster_port: int = _setting(3000)
    dagster_bind: str = _setting("127.0.0.1", "where the Dagster UI listens")
    dagster_login: bool = _setting(False, "the UI asks for an administrator's login at the console")
    dagster_allowed_hosts: str = _setting("", "comma list of names of the Dagster UI, beside DAGSTER_HOST")
    log_format: str = _setting("json", "json or text")
    log_level: str = _setting("INFO")
    payload_url: str = _setting(
        "", "object store of upstream bodies, s3://bucket/prefix; empty: DATA_DIR/payloads"
    )
    lake_url: str = _setting("", "the published tables, s3://bucket/prefix or a folder; empty: DATA_DIR/lake")
    payload_days: int = _setting(30, "days that upstream bodies are stored")
    sample_profile: str = _setting("S", "S, M or L")
    sample_state: str = _setting(
        "autumn-2026", "what the simulated upstreams are like: autumn-2026, or calm: they answer everything"
    )
    sample_seed: int = _setting(20260821)
    sample_world: str = _setting("synthetic", "synthetic or replay")
    sample_now: str = _setting("", "freezes the market clock, e.g. 2026-08-21T15:30")
    sample_clock: str = _setting(
        "", "file of a market clock that runs at another rate, for long simulated runs; only with mock"
    )
    sample_faults: str = _setting("", "file with fault rules for the simulated market")
    sample_texts: str = _setting(
        "",
        "file with a JSON list of texts: names of stocks and ends of titles, to see how a page shows them",
    )
    start_limit_s: int = _setting(1800, "seconds that a start waits for a process that makes progress")
    sample_history_dates: int = _setting(320, "trade dates of bars that the first start loads")
    real_data_dir: str = _setting("../shared/data", "files of the replay world")

    explicit: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """Field names that the environment or `.env` fixes (a PUT on one of them is refused)."""

    @property
    def role(self) -> str:
        return self.app_role if self.app_role in ROLES else "all"

    def keeps_off(self, task: str) -> str | None:
        """Why a task of the schedule does not run, however it is switched; None when it may."""
        if task in EOD_TASKS and not self.scheduler_eod_sync:
            return "SCHEDULER_EOD_SYNC is false"
        return None

    def why_idle(self, clock: Clock) -> str | None:
        """Why no task starts by its schedule; None when the scheduler works."""
        if clock.frozen:
            return f"the market clock is frozen at {clock.now():%Y-%m-%d %H:%M}"
        return None if self.enable_scheduler else "ENABLE_SCHEDULER is false"

    @property
    def cors_origin_list(self) -> list[str]:
        return [origin.strip().lower() for origin in self.cors_origins.split(",") if origin.strip()]

    @property
    def world(self) -> str | None:
        """Which simulated market the data comes from, `sample` or `replay`; None: from the real one."""
        if self.data_source != "mock":
            return None
        return "sample" if self.sample_world == "synthetic" else "replay"

    @property
    def data_path(self) -> Path:
        return Path(self.data_dir).expanduser().resolve()

    @property
    def lake_address(self) -> str:
        """Folder or address of the published tables: LAKE_URL, else a folder of the data folder."""
        return self.lake_url or str(self.data_path / LAKE_FOLDER)

    @property
    def warehouse_address(self) -> str:
        """SQLAlchemy URL of the warehouse: WAREHOUSE_URL, else MariaDB when any DB_* is set, else the
        embedded file in the data folder."""
        if self.warehouse_url:
            return self.warehouse_url
        if any(name.startswith("db_") for name in self.explicit):
            # The supervisor reads settings too, and loads no database library.
            from sqlalchemy import URL  # noqa: PLC0415

            return URL.create(
                "mysql+pymysql",
                username=self.db_user,
                password=self.db_password or None,
                host=self.db_host,
                port=self.db_port,
                database=self.db_name,
            ).render_as_string(hide_password=False)
        return f"sqlite:///{self.data_path / 'warehouse.sqlite3'}"

    @property
    def broker_address(self) -> str:
        """BROKER_URL, with BROKER_PASSWORD where it names a user without a password."""
        parts = urlsplit(self.broker_url)
        if not self.broker_password or not parts.username or parts.password:
            return self.broker_url
        _, _, place = parts.netloc.rpartition("@")
        password = quote(self.broker_password, safe="")
        return parts._replace(netloc=f"{parts.username}:{password}@{place}").geturl()

    @property
    def warehouse_variables(self) -> str:
        """The variables that made `warehouse_address` what it is, for messages about it."""
        if self.warehouse_url:
            return "WAREHOUSE_URL"
        given = [name.upper() for name in sorted(self.explicit) if name.startswith("db_")]
        return ", ".join(given) or "DATA_DIR"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret values that are set, with the passwords within URLs and the items of lists."""
        values = [str(getattr(self, row.name)) for row in fields(self) if row.metadata.get("secret")]
        within = [urlsplit(value).password for value in values if "://" in value]
        pooled = [key.strip() for value in values if "," in value for key in value.split(",")]
        return tuple(value for value in (*values, *within, *pooled) if value)

    @property
    def frozen_now(self) -> datetime | None:
        return datetime.fromisoformat(self.sample_now) if self.sample_now else None

    def masked(self) -> dict[str, Any]:
        """Environment name -> value; secrets show only whether they are set. The only dump there is."""
        shown: dict[str, Any] = {}
        for row in fields(self):
            if row.metadata:
                value = getattr(self, row.name)
                shown[row.name.upper()] = "***" if value and row.metadata["secret"] else value
        return shown


def _parse(name: str, kind: Any, text: str) -> Any:
    if kind is bool:
        lowered = text.strip().lower()
        if lowered in {"1", "true", "yes", "on"}:
            return True
        if lowered in {"0", "false", "no", "off", ""}:
            return False
        raise InputError(name, f"{text!r} is neither true nor false")
    try:
        value = kind(text.strip())
    except ValueError:
        raise InputError(name, f"{text!r} is no {_KINDS[kind]}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(name, f"{text!r} is no {_KINDS[kind]}")
    return value


_KINDS = {int: "whole number", float: "number"}


def read_dotenv(path: Path) -> dict[str, str]:
    """`NAME=value` lines of a .env file; comments and blank lines skipped, quotes stripped."""
    values: dict[str, str] = {}
    if not path.is_file():
        return values
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InputError("ENV_FILE", f"{path} cannot be read ({reason})") from None
    for line in lines:
        text = line.strip().removeprefix("export ")
        if text and not text.startswith("#") and "=" in text:
            name, _, value = text.partition("=")
            values[name.strip()] = value.strip().strip("\"'")
    return values


def _check_addresses(settings: Settings) -> None:
    for name in ("anthropic_base_url", "openai_base_url"):
        address = getattr(settings, name)
        if address and (urlsplit(address).scheme not in {"http", "https"} or not urlsplit(address).hostname):
            raise InputError(name.upper(), f"{address!r} is no http or https address")
    for name in ("api_port", "api_check_port", "dagster_port", "db_port", "smtp_port"):
        if not 0 <= getattr(settings, name) <= 65535:
            raise InputError(name.upper(), f"{getattr(settings, name)} is no port (0..65535)")
    wrong = next((origin for origin in settings.cors_origin_list if not _ORIGIN.fullmatch(origin)), None)
    if wrong is not None:
        raise InputError("CORS_ORIGINS", f"{wrong!r} is no origin, such as https://app.example.com")


def _check(settings: Settings) -> Settings:
    choices = {
        "DATA_SOURCE": DATA_SOURCES,
        "SAMPLE_PROFILE": ("S", "M", "L"),
        "SAMPLE_WORLD": ("synthetic", "replay"),
        "SAMPLE_STATE": SAMPLE_STATES,
        "LOG_FORMAT": LOG_FORMATS,
        "METRICS": ("off", "loopback", "admin"),
    }
    for name, allowed in choices.items():
        value = getattr(settings, name.lower())
        if value not in allowed:
            raise InputError(name, f"{value!r} is none of {', '.join(allowed)}")
    if settings.log_level.upper() not in LOG_LEVELS:
        raise InputError("LOG_LEVEL", f"{settings.log_level!r} is none of {', '.join(LOG_LEVELS)}")
    _check_addresses(settings)
    for row in fields(settings):
        value = getattr(settings, row.name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if value < 0:
            raise InputError(row.name.upper(), f"{value:g} is negative")
        if value == 0 and row.name in NOT_ZERO:
            raise InputError(row.name.upper(), "must not be 0")
    least, most = settings.eod_stock_throttle_min, settings.eod_stock_throttle_max
    if most < least:
        raise InputError("EOD_STOCK_THROTTLE_MAX", f"{most:g} is below EOD_STOCK_THROTTLE_MIN ({least:g})")
    try:
        frozen = settings.frozen_now
    except ValueError:
        raise InputError("SAMPLE_NOW", f"{settings.sample_now!r} is no ISO date-time") from None
    if frozen is not None and frozen.tzinfo is not None:
        raise InputError("SAMPLE_NOW", f"{settings.sample_now!r} has a time zone; exchange time has none")
    if settings.sample_clock and settings.data_source != "mock":
        why = f"only with DATA_SOURCE=mock (it is {settings.data_source}): real upstreams have real time"
        raise InputError("SAMPLE_CLOCK", why)
    if settings.sample_clock and settings.sample_now:
        raise InputError("SAMPLE_CLOCK", "not together with SAMPLE_NOW: one of them says what time it is")
    return settings


def load_settings(
    environ: Mapping[str, str] | None = None,
    *,
    dotenv: Path | None = None,
    stored: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings of this process. `stored` holds values of `sys_config` (setting names)."""
    env = {**read_dotenv(dotenv or Path(".env")), **(os.environ if environ is None else environ)}
    values: dict[str, Any] = {}
    explicit: set[str] = set()
    for row in (one for one in fields(Settings) if one.metadata):
        name, kind = row.name.upper(), type(row.default)
        if name in env:
            values[row.name] = _parse(name, kind, env[name])
            explicit.add(row.name)
        elif stored and row.metadata["stored"] and name in stored:
            values[row.name] = _parse(name, kind, stored[name])
    return _check(Settings(**values, explicit=frozenset(explicit)))


def refuse_reserved(settings: Settings) -> None:
    """NotImplementedError for DATA_SOURCE=vendor, which the specification reserves."""
    if settings.data_source == "vendor":
        raise NotImplementedError("DATA_SOURCE=vendor is reserved and not implemented")


def process_settings(stored: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process from its environment and `.env` (or the file that ENV_FILE names)."""
    return load_settings(dotenv=Path(os.environ.get("ENV_FILE", ".env")), stored=stored)
