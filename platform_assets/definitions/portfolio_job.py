"""The job `portfolio_mon`: movements of the watch lists become in-app notifications."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from core.errors import PayloadError, Unavailable, UpstreamError
from platform_assets.compute.watch_alerts import Thresholds, alerts
from platform_assets.definitions.one_op_jobs import one_op_job
from platform_assets.pipeline.run import PipelineRun
from resources.composition import Platform
from resources.fetch_record import FetchLog
from resources.notifications import NotificationStore
from resources.settings import Settings
from resources.stored_settings import read_stored
from resources.upstreams.fetch_context import FetchContext
from resources.warehouse.warehouse import Warehouse

JOB = "portfolio_mon"
KIND = "portfolio_alert"
_HOLDINGS = "SELECT code, name, stop_loss_price FROM portfolio_stock WHERE is_active=1 ORDER BY code"
_QUOTED = ("name", "price", "last_close", "volume_ratio")


def watched(warehouse: Warehouse) -> list[dict[str, Any]]:
    """One entry per code of any list; of several stop prices the highest, which is reached first."""
    found: dict[str, dict[str, Any]] = {}
    for code, name, stop in warehouse.query(_HOLDINGS):
        one = found.setdefault(str(code), {"code": str(code), "name": name, "stop_loss_price": stop})
        if stop is not None and (one["stop_loss_price"] is None or stop > one["stop_loss_price"]):
            one["stop_loss_price"] = stop
    return list(found.values())


def quotes_of(ctx: FetchContext, codes: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Code -> quote of today's session: the quote site, else the terminal, which tells no volume ratio and
    no date. What was not traded today is left out. Raises the last source's error."""
    symbols = _symbols(ctx, codes)
    if not symbols:
        return {}
    try:
        frame = ctx.tencent.quotes(symbols)
        frame = frame[frame["trade_date"] == ctx.today]
    except (UpstreamError, PayloadError, Unavailable):
        frame = ctx.tdx.quotes(symbols)
        frame = frame[~frame["unknown"]]
    frame = frame.reindex(columns=["code", *_QUOTED])
    rows: list[dict[str, Any]] = frame.astype(object).where(pd.notna(frame), None).to_dict("records")
    return {str(row["code"]): row for row in rows}


def _symbols(ctx: FetchContext, codes: Sequence[str]) -> list[str]:
    """As the stored list of securities has them; codes that it does not know are not asked for."""
    stored = ctx.read("fusion_stock_master", columns=("code", "market"))
    known = stored[stored["code"].isin(list(codes)) & stored["market"].isin(["SH", "SZ", "BJ"])]
    return [f"{market.lower()}{code}" for code, market in zip(known["code"], known["market"], strict=True)]


def thresholds_of(settings: Settings, stored: Mapping[str, str]) -> Thresholds:
    """Environment, else the newest stored value, else what this process started with."""

    def value(name: str, started_with: float) -> float:
        text = None if name in settings.explicit else stored.get(name.upper())
        return started_with if text is None else float(text)

    return Thresholds(
        price=value("price_alert_threshold", settings.price_alert_threshold),
        volume=value("volume_alert_ratio", settings.volume_alert_ratio),
        stop=value("stop_loss_proximity", settings.stop_loss_proximity),
    )


def enabled(settings: Settings, stored: Mapping[str, str]) -> bool:
    text = stored.get("ENABLE_PORTFOLIO_MONITOR")
    if text is None or "enable_portfolio_monitor" in settings.explicit:
        return settings.enable_portfolio_monitor
    return text == "true"


@one_op_job(
    JOB, "watch_portfolio", "movements of the watch lists become in-app notifications; it sends no mail"
)
def portfolio_job(context: dg.OpExecutionContext, opened: Platform, run: PipelineRun) -> None:
    """One notification per stock, direction and day."""
    stored = read_stored(opened.warehouse.engine)
    if not enabled(opened.settings, stored):
        context.log.info("nothing is watched: ENABLE_PORTFOLIO_MONITOR is false")
        return
    holdings = watched(opened.warehouse)
    quotes = quotes_of(run.context_for(FetchLog()), [one["code"] for one in holdings]) if holdings else {}
    limits = thresholds_of(opened.settings, stored)
    store = NotificationStore(opened.settings.data_path / "notifications")
    now = opened.clock.now()
    found = [alert for one in holdings for alert in alerts(one, quotes.get(one["code"], {}), limits)]
    reported = [store.add(KIND, one.title, one.content, now=now, key=one.key, code=one.code) for one in found]
    counts = {"watched": len(holdings), "quoted": len(quotes), "movements": len(found)}
    context.add_output_metadata({**counts, "notifications": sum(one is not None for one in reported)})
