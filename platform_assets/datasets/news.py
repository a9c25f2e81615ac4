"""fusion_news: news and research on stocks, one row per code and headline.

News has no list by date, only a search by word: a run asks for the codes with an event (see `event_codes`),
never for all; where it does not answer, flash news that name their stocks are the fallback. Research reports
are listed by date. A headline that comes again, in another paper or on another day, stays the row that it
was: the earliest time and the longest text are kept.
"""

import orjson
import pandas as pd

from core.declaration import columns as t
from core.declaration.columns import Model, Received, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import DAY, REQUIRED, TEXT, market, stock
from core.declaration.rules import Partition, Rows, Soft, calendar_days
from core.declaration.scope import Context, Scope
from platform_assets.compute.sentiment import sentiment_of
from platform_assets.datasets import _press
from resources.upstreams.fetch_context import FetchContext, within_last

RESEARCH = "research"
_CLOSES_BACK = 6
_FAR = 5.0
_OTHER_PRICE = 1.5
"""A report may be older than its publication, but its price hardly half as much again."""
_HALF_FEN = 0.005
_LEFT = 5
"""Hardly a forecast takes four fifths of the profit away within a year."""


def forecast_fits_the_price(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A target and earnings a share that could be those of a stock at its newest stored close."""
    since = context.calendar.last(_CLOSES_BACK, context.scope.since)[0]
    columns = ("code", "date", "close")
    stored = context.read("fusion_kline_daily", columns=columns, since=since, until=context.scope.until)
    newest = stored.dropna(subset=["close"]).sort_values("date").drop_duplicates("code", keep="last")
    close = (
        rows["code"].map(dict(zip(newest["code"], newest["close"].astype(float), strict=True))).astype(float)
    )
    target, earned = rows["target_price"].astype(float), rows["eps_fy1"].astype(float)
    off = (target > _FAR * close) | ((target > 0) & (target * _FAR < close)) | (earned.abs() > close)
    return ~off


def earnings_make_the_price(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Earnings per share times the P/E reported with them are a price of the days before the report, and the
    year after leaves more than a fifth of them. Either shows a P/E in the place of the earnings."""
    fine = pd.Series(True, index=rows.index)
    reports = rows[(rows["news_type"] == RESEARCH) & rows["eps_fy1"].notna()]
    if reports.empty:
        return fine
    days = reports["pub_time"].str[:10]
    columns = ("code", "pdf_url", "pe_fy1")
    reported = context.read("raw_reports", columns=columns, since=days.min(), until=days.max())
    reported = reported.drop_duplicates(["code", "pdf_url"]).rename(columns={"pdf_url": "url"})
    ratio = reports[["code", "url"]].merge(reported, how="left", on=["code", "url"])["pe_fy1"]
    ratio = ratio.astype(float).abs().set_axis(reports.index)
    earned = reports["eps_fy1"].astype(float)
    closes = _closes_before(reports["code"], days, context)
    above = ratio * (earned.abs() - _HALF_FEN) > _OTHER_PRICE * closes["max"]
    below = ratio * (earned.abs() + _HALF_FEN) * _OTHER_PRICE < closes["min"]
    lost = (earned > 0) & (reports["eps_fy2"].astype(float) * _LEFT < earned)
    fine.loc[reports.index] = ~(((above | below) & (ratio > 0)) | lost)
    return fine


def _closes_before(codes: pd.Series, days: pd.Series, context: Context) -> pd.DataFrame:
    """`min` and `max` of the stored closes of each code in the trade dates up to its day; null where it has
    none. The range holds the prices before an ex-right day as well."""
    since = context.calendar.last(_CLOSES_BACK, days.min())[0]
    columns = ("code", "date", "close")
    stored = context.read("fusion_kline_daily", columns=columns, since=since, until=days.max())
    stored = stored.dropna(subset=["close"]).astype({"close": float})
    found = pd.DataFrame(float("nan"), index=codes.index, columns=["min", "max"])
    for day in days.unique():
        own = days == day
        recent = stored[
            (stored["date"] >= context.calendar.last(_CLOSES_BACK, day)[0]) & (stored["date"] <= day)
        ]
        ends = recent.groupby("code")["close"].agg(["min", "max"])
        found.loc[own] = ends.reindex(codes[own]).to_numpy(dtype=float)
    return found


NEWS = "news"
_PAGES = 3
"""Pages of the search for a code that was asked for by name; a code with an event gets the first one."""
_SHORTEST = 20
_SPAN = 20
"""Trade dates in one request for research: some forty pages of the hundred that are answered."""
_RECENT = within_last(10)
"""The search has the newest articles alone; a past day cannot be asked."""
_TODAYS = within_last(3)
"""Flash news reach less far back."""
_TONES = {"买入": 1, "增持": 1, "强烈推荐": 1, "推荐": 1, "中性": 0, "持有": 0, "减持": -1, "卖出": -1}
_NEWS = ["code", "title", "pub_time"]
_FLASH = ["code", "title_key", "title", "pub_time", "content", "media", "url"]


class News(Model):
    """One headline about one stock."""

    code: t.Code = key("security code")
    title_key: t.K16 = key("16 hex of the normalised title's SHA-1")
    pub_time: t.Dt = col(title="when it was first published", nullable=False)
    title: t.S512 = col(title="title", nullable=False, str_length={"min_value": 1})
    content: t.Text = col(title="text, cut at 16,000 characters")
    source: t.S64 = col(title="medium; of research its institution")
    url: t.S512 = col(title="address")
    news_type: t.S16 = col(title="news or research", nullable=False, isin=[NEWS, RESEARCH])
    rating: t.S32 = col(title="rating")
    rating_change: t.S32 = col(title="change of the rating")
    researcher: t.S128 = col(title="authors")
    org: t.S64 = col(title="institution")
    target_price: t.Px = col("CNY", "target price", ge=0)
    eps_fy1: t.Px = col("CNY", "EPS forecast of the year of publication")
    eps_fy2: t.Px = col("CNY", "EPS forecast of the year after")
    eps_fy3: t.Px = col("CNY", "EPS forecast of the second year after")
    sentiment: t.Int = col(title="1 good, -1 bad, 0 both; null undecided", computed=True, isin=[-1, 0, 1])


class RawNews(Model):
    """One headline about one stock as received."""

    code: t.Code = key("security code")
    title_key: t.K16 = key("16 hex of the normalised title's SHA-1")
    src: t.K32 = key("upstream")
    title: t.S512 = col(title="title", nullable=False)
    pub_time: t.Dt = col(title="when it was published", nullable=False)
    content: t.Text = col(title="text, cut at 16,000 characters")
    media: t.S64 = col(title="medium")
    url: t.S512 = col(title="address; null where it is not http(s)")


@with_columns(
    RawNews.code, RawNews.title_key, RawNews.src, RawNews.title, RawNews.pub_time, "summary", RawNews.media,
    RawNews.url,
)  # fmt: skip
class AuxNews(Model):
    """The same headline, stored as one of the F10 tables."""

    title: t.S512 = col(title="title", nullable=False)
    pub_time: t.Dt = col(title="when it was published", nullable=False)
    summary: t.Text = col(title="text, cut at 16,000 characters")


@with_columns(
    News.code, "info_code", Received.src, "pub_date", News.title, News.org, News.researcher, News.rating,
    News.rating_change, News.eps_fy1, News.eps_fy2, News.eps_fy3, "pe_fy1", News.target_price, "industry",
    "pdf_url",
)  # fmt: skip
class RawReport(Model):
    """One research report on one stock as received."""

    info_code: t.K32 = key("number at its source")
    pub_date: t.Date = col(title="date of publication", nullable=False)
    title: t.S512 = col(title="title", nullable=False)
    pe_fy1: t.F = col("", "price / eps_fy1")
    industry: t.S64 = col(title="industry")
    pdf_url: t.S512 = col(title="address of the PDF")


def search(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per code with an event, at most 300; for named codes up to three each. The tables of one run
    share the answers."""
    pages = 1 if scope.codes is None else _PAGES
    codes = _press.event_codes(ctx, scope) if scope.codes is None else list(scope.codes)

    def of(code: str) -> pd.DataFrame:
        found: pd.DataFrame = ctx.once(
            ("articles", code, pages), lambda view: view.eastmoney.articles(code, pages)
        )
        return found.assign(code=code)

    rows = _press.inside(ctx, scope, stacked(ctx.each(of, codes), _NEWS), "pub_time")
    return _press.one_per_headline(rows, time="pub_time", text="content")


def search_for_f10(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The answers of `search` once more, no further call."""
    return search(ctx, scope).rename(columns={"content": "summary"})


def telegraph(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Items of the telegraph that name stocks, one row per stock: the answers of the flash news."""
    return _naming(ctx, scope, "cls", lambda view: view.cls.flashes)


def telegraph_for_f10(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The answers of `telegraph` once more, no further call."""
    return telegraph(ctx, scope).rename(columns={"content": "summary"})


def second_quote_site(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The same of the second quote site's feed."""
    return _naming(ctx, scope, "sina", lambda view: view.sina.flashes)


def _naming(ctx: FetchContext, scope: Scope, upstream: str, call: _press.FlashCall) -> pd.DataFrame:
    """Flash news by the stocks that they name themselves; of named codes theirs alone."""
    reported = _press.flashes(ctx, scope, upstream, call)
    rows = reported.assign(code=reported["codes"].map(orjson.loads)).explode("code", ignore_index=True)
    rows = rows[rows["code"].notna()]
    if scope.codes is not None:
        rows = rows[rows["code"].isin(scope.codes)]
    return _press.one_per_headline(rows, time="pub_time", text="content").reindex(columns=_FLASH)


def research(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """One call per 100 reports of the scope's days, two or three for a date; for named codes one each."""
    if scope.codes is None:
        parts = [ctx.eastmoney.research(*days) for days in _press.spans(ctx, scope, _SPAN)]
    else:
        since, until = _press.days_of(ctx, scope)
        parts = ctx.each(lambda code: ctx.eastmoney.research(since, until, code), scope.codes)
    return pd.concat(parts, ignore_index=True)


def stage_news(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    return rows.rename(columns={"media": "source", "summary": "content"}).assign(news_type=NEWS)


def stage_research(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """One row per headline: of two institutions' reports with one title the earlier. Only the day is known,
    so the time is its midnight."""
    times = rows["pub_date"] + " 00:00:00"
    made = rows.assign(pub_time=times, source=rows["org"], url=rows["pdf_url"], content=None)
    return _press.one_per_headline(made.assign(news_type=RESEARCH), time="pub_time", text="content")


def add_sentiment(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Sentiment by the words of the headline; of research where no word decides, by its rating."""
    tones = [sentiment_of(title) for title in rows["title"]]
    rated = rows["rating"].map(_TONES).astype(float)
    rows["sentiment"] = pd.Series(tones, index=rows.index, dtype="Int64").fillna(rated.astype("Int64"))
    return rows


def published(rows: pd.DataFrame, context: Context) -> pd.Series:
    """News at its time; research, of which only the day is known, at the end of that day."""
    times = rows["pub_time"].astype(object)
    days = times.str[:10] + " 23:59:59"
    return times.where(rows["news_type"] != RESEARCH, days) + ".000000"


def content_is_told(rows: pd.DataFrame, context: Context) -> pd.Series:
    short = rows["content"].str.len().fillna(0) < _SHORTEST
    return ~(short & (rows["news_type"] == NEWS))


def not_ahead(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["pub_time"] <= context.now[:19]


def research_is_rated(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~(rows["rating"].isna() & (rows["news_type"] == RESEARCH))


DATASET = Dataset(
    name="news",
    subject="news",
    title="News and research on stocks, one row per headline",
    model=News,
    domain="daily",
    partition=Partition.EVENT_DATE,
    date_column="pub_time",
    late=1,
    raw=(
        Raw(
            name="news",
            title="Articles that mention a code with an event",
            model=RawNews,
            partition=Partition.EVENT_DATE,
            date_column="pub_time",
            sources=(
                Source("eastmoney", search, only_when=_RECENT),
                Source("cls", telegraph, only_when=_TODAYS),
                Source("sina", second_quote_site, only_when=_TODAYS),
            ),
            late=1,
            reads=("fusion_announcement", "fusion_kline_daily", "fusion_stock_master"),
            tasks=("news_sync", "eod_core"),
        ),
        Raw(
            name="reports",
            per_code=True,
            title="Research reports with rating, forecasts and target price",
            model=RawReport,
            partition=Partition.EVENT_DATE,
            date_column="pub_date",
            sources=(Source("eastmoney", research),),
            late=1,
            tasks=("news_sync", "eod_core"),
        ),
        Raw(
            name="aux_news",
            also_tasks=("aux_f10_events_sync",),
            title="Articles beside the F10 tables: the search once more, no further call",
            model=AuxNews,
            partition=Partition.EVENT_DATE,
            date_column="pub_time",
            sources=(
                Source("em_f10", search_for_f10, only_when=_RECENT),
                Source("cls", telegraph_for_f10, only_when=_TODAYS),
            ),
            late=1,
            reads=("fusion_announcement", "fusion_kline_daily", "fusion_stock_master"),
            tasks=("news_sync", "eod_core"),
        ),
    ),
    feeds={"raw_news": stage_news, "raw_reports": stage_research, "aux_news": stage_news},
    order=("eastmoney", "em_f10", "cls", "sina"),
    fuse=Rows(earliest=("pub_time",), longest=("content",)),
    derive=(add_sentiment,),
    soft=(
        Soft(content_is_told, "news with a text below 20 characters"),
        Soft(not_ahead, "published later than now"),
        Soft(
            forecast_fits_the_price, "target beyond a fifth or five times of the close, or earnings above it"
        ),
        Soft(
            earnings_make_the_price,
            "earnings that times P/E are not the price, or less than a fifth of them the year after",
        ),
        Soft(research_is_rated, "research without a rating"),
    ),
    reads=("fusion_kline_daily", "raw_reports"),
    public_at=published,
    freshness=calendar_days(3, "pub_time"),
    may_be_empty=True,
    tasks=("news_sync", "eod_core"),
    interfaces=(
        stock("get_news", "headlines", "news and research of one code", ttl=300).takes(
            code=REQUIRED, start_date=DAY, end_date=DAY, news_type=TEXT, limit=30
        ),
        market("get_news_by_date", "headlines", "all news of one day", ttl=300).takes(
            date=DAY, news_type=TEXT, keyword=TEXT, limit=200, offset=0
        ),
        stock(
            "get_research_reports",
            "headlines",
            "research reports with rating and EPS forecasts",
            ttl=3600,
            table="raw_reports",
        ).takes(code=REQUIRED, limit=30),
        market(
            "get_research_reports_by_date",
            "by_date",
            "research reports of all codes on one date",
            ttl=3600,
            table="raw_reports",
        ).takes(date=DAY, sort=TEXT, limit=200, offset=0),
    ),
)
