"""fusion_announcement: notices of the listed companies, by disclosure date.

The disclosure platform is asked by date for the whole market; the portal and, for its own companies, Shenzhen
are the fallback when it does not answer. Notices dated a trade date are complete on the next one, so a load
takes the trade date before with it; those of a weekend belong to the trade date after it.
"""

from collections.abc import Callable

import pandas as pd

from core.days import moved
from core.declaration import rules
from core.declaration.columns import K16, S32, S64, S512, Code, Date, Dt, Int, Model, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.interfaces import DAY, REQUIRED, TEXT, market, stock
from core.declaration.scope import Context, Scope
from core.errors import NotServed
from core.text_keys import text_keys
from platform_assets.compute.notices import CATEGORIES, category_of, importance_of
from platform_assets.datasets._events import EXCHANGES
from platform_assets.datasets._press import days_of, spans
from resources.upstreams.fetch_context import FetchContext

_AHEAD_DAYS = 2
_LONG_SPAN, _SHORT_SPAN = 20, 3
"""Trade dates in one request: the platform's client halves what is too long by itself."""
_MANY = 50


class Announcement(Model):
    """One notice of one company."""

    code: Code = key("security code")
    pub_date: Date = key("disclosure date")
    title_key: K16 = key("16 hex of the normalised title's SHA-1")
    title: S512 = col(title="title", nullable=False, str_length={"min_value": 1})
    ann_type: S64 = col(title="type, in the words or codes of its source")
    category: S32 = col(title="category by the title's words", computed=True, isin=list(CATEGORIES))
    url: S512 = col(title="address of the notice")
    pdf_url: S512 = col(title="address of the PDF")
    ann_id: S64 = col(title="number at its source")
    pub_time: Dt = col(title="when it was published, where the source says it")
    importance: Int = col(
        title="3 changes a company's standing, 2 awaited, 1 other", computed=True, ge=1, le=3
    )


@with_columns(
    Announcement.code, Announcement.title, Announcement.title_key, Announcement.pub_date,
    Announcement.pub_time, Announcement.ann_type, Announcement.ann_id, Announcement.url, Announcement.pdf_url,
    "size_kb",
)  # fmt: skip
class RawAnnouncement(Model):
    """One notice of one company as received."""

    title: S512 = key("title, without the company's short name before it", str_length={"min_value": 1})
    size_kb: Int = col(title="kB of the PDF", ge=0)


Ask = Callable[[str, str, str | None], pd.DataFrame]


def _asked(ask: Ask, ctx: FetchContext, scope: Scope, most: int) -> pd.DataFrame:
    """`ask(since, until, code)` for the scope's days (`most` trade dates at once), or for each of its codes;
    one row per company, date and headline, under the spelling that is stored already."""
    since, until = days_of(ctx, scope)
    if scope.codes is None:
        parts = [ask(first, last, None) for first, last in spans(ctx, scope, most)]
        rows = pd.concat(parts, ignore_index=True)
    else:
        parts = ctx.each(lambda code: ask(since, until, code), scope.codes)
        rows = pd.concat(parts, ignore_index=True)
        rows = rows[rows["code"].map(scope.covers).astype(bool)]
    rows = rows.assign(title_key=text_keys(rows["title"]))
    name = ["code", "title_key", "pub_date"]
    rows = rows.drop_duplicates(subset=name, ignore_index=True)
    if rows.empty:
        return rows
    bounds = {"since": since, "until": until} if scope.codes is None else {"codes": scope.codes}
    stored = ctx.read("raw_announcements", columns=(*name, "title"), **bounds)
    known = rows[name].merge(stored, on=name, how="left")["title"]
    return rows.assign(title=known.where(known.notna(), rows["title"]))


def platform(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per 30 notices of the market; a code: the map of ids, then one call per 30 of its notices."""

    def ask(since: str, until: str, code: str | None) -> pd.DataFrame:
        if code is None:
            return ctx.cninfo.announcements(since, until)
        orgs = ctx.once("cninfo_orgs", lambda view: view.cninfo.orgs()).set_index("code")["org_id"]
        if code not in orgs.index:
            raise NotServed(f"{code} is not on the site's list of companies")
        return ctx.cninfo.announcements(since, until, f"{code},{orgs[code]}")

    return _asked(ask, ctx, scope, _LONG_SPAN)


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per 100 notices of the market or of a code."""
    return _asked(ctx.eastmoney.notices, ctx, scope, _SHORT_SPAN)


def shenzhen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per 50 notices of Shenzhen's companies."""
    return _asked(ctx.szse.announcements, ctx, scope, _SHORT_SPAN)


def add_meaning(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["category"] = [category_of(title) for title in rows["title"]]
    rows["importance"] = [importance_of(title) for title in rows["title"]]
    return rows


def not_far_ahead(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["pub_date"] <= moved(context.today, _AHEAD_DAYS)


def url_is_http(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["url"].isna() | rows["url"].astype(str).str.match(r"https?://")


def ann_type_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["ann_type"].notna()


def code_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The company is in the security master, where there is one."""
    known = set(context.read("fusion_stock_master", columns=("code",))["code"])
    return rows["code"].isin(known) if known else rows["code"].notna()


def of_both_exchanges(rows: pd.DataFrame, context: Context) -> str | None:
    """Many notices of one exchange and none of the other: a source that has half of the market."""
    if context.scope.codes is not None or len(rows) < _MANY:
        return None
    shanghai = int(rows["code"].str.startswith("6").sum())
    if 0 < shanghai < len(rows):
        return None
    return f"{len(rows)} notices, {shanghai} of Shanghai"


DATASET = Dataset(
    name="announcement",
    subject="securities",
    title="Notices of listed companies by disclosure date",
    model=Announcement,
    domain="daily",
    partition=rules.Partition.EVENT_DATE,
    late=1,
    raw=(
        Raw(
            name="announcements",
            title="Notices as the disclosure platform, the portal or Shenzhen lists them",
            model=RawAnnouncement,
            key=("code", "title", "pub_date"),
            unique=(("code", "title_key", "pub_date"),),
            partition=rules.Partition.EVENT_DATE,
            sources=(
                Source("cninfo", platform, parts=EXCHANGES),
                Source("eastmoney", portal, parts=EXCHANGES),
                Source("szse", shenzhen, parts=("SZSE",)),
            ),
            late=1,
        ),
    ),
    feeds={"raw_announcements": rules.as_received},
    order=("cninfo", "eastmoney", "szse"),
    fuse=rules.Rows(fills=("pub_time", "ann_type", "pdf_url")),
    contract=(rules.Contract(not_far_ahead, "disclosure date more than two days ahead"),),
    derive=(add_meaning,),
    soft=(
        rules.Soft(url_is_http, "the address is not http(s)"),
        rules.Soft(ann_type_known, "no type"),
        rules.Soft(code_known, "no such security is known"),
    ),
    whole=(rules.Whole(of_both_exchanges),),
    undated={"fusion_stock_master": ("code",)},
    reads=("fusion_stock_master",),
    public_at=rules.at_time("pub_time", otherwise_on="pub_date"),
    freshness=rules.calendar_days(3, "pub_date"),
    may_be_empty=True,
    tasks=("fusion_daily_sync", "news_sync", "eod_core"),
    interfaces=(
        stock("get_announcements", "headlines", "announcements, newest first", ttl=600).takes(
            code=REQUIRED, start_date=DAY, end_date=DAY, ann_type=TEXT, limit=30
        ),
        market("get_announcements_by_date", "headlines", "all announcements of one day", ttl=300).takes(
            date=DAY, ann_type=TEXT, keyword=TEXT, limit=200, offset=0
        ),
    ),
)
