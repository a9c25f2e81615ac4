"""raw_news_flash: flash news around the clock, as they were put up: the portal's, else another paper's."""

import pandas as pd

from core.declaration.columns import K32, S32, S255, S512, Dt, Int, Json, Model, Text, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import DAY, TEXT, market
from core.declaration.rules import Partition, calendar_days
from core.declaration.scope import Scope
from platform_assets.datasets._press import flashes
from resources.upstreams.fetch_context import FetchContext, within_last


class NewsFlash(Model):
    """One item."""

    flash_id: K32 = key("number at its source")
    pub_time: Dt = col(title="when it was put up", nullable=False)
    title: S255 = col(title="title", nullable=False)
    content: Text = col(title="text, cut at 16,000 characters")
    media: S32 = col(title="medium")
    importance: Int = col(title="0 plain, 1 marked, 2 red", isin=[0, 1, 2])
    codes: Json = col(title="codes of A shares that it mentions")
    boards: Json = col(title="boards that it mentions")
    url: S512 = col(title="address")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per 50 items, from the newest back to the first day of the scope, at most 40."""
    return flashes(ctx, scope, "eastmoney", lambda view: view.eastmoney.flashes)


def telegraph(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The same of the telegraph, with numbers of its own: one call per 50 items."""
    return flashes(ctx, scope, "cls", lambda view: view.cls.flashes)


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The second quote site's feed, at most 400 items: one call per 20."""
    return flashes(ctx, scope, "sina", lambda view: view.sina.flashes)


DATASET = Raw(
    name="news_flash",
    title="Flash news around the clock",
    model=NewsFlash,
    partition=Partition.EVENT_DATE,
    date_column="pub_time",
    sources=(
        Source("eastmoney", portal, only_when=within_last(3)),
        Source("cls", telegraph, only_when=within_last(3)),
        Source("sina", second_quote_site, only_when=within_last(3)),
    ),
    late=1,
    topical=True,
    freshness=calendar_days(1, "pub_time"),
).alone(
    subject="news",
    title="Flash news",
    tasks=("news_sync", "eod_core"),
    interfaces=(
        market("get_news_flash", "headlines", "stored flash news", ttl=30).takes(
            start_date=DAY, end_date=DAY, keyword=TEXT, limit=50
        ),
    ),
)
