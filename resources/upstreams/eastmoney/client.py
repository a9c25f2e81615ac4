"""Calls of the finance portal's quote hosts: request -> fetch -> parse, one method per question."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from platform_assets.compute.market_rules import is_a_share
from resources.clock import Clock
from resources.errors import InputError, PayloadError
from resources.transport.request import Fetcher
from resources.upstreams.eastmoney import (
    billboard,
    connect,
    deals,
    dividends,
    f10,
    fields,
    finance,
    holders,
    insiders,
    institutions,
    lists,
    lockup,
    margin,
    news,
    notices,
    pools,
    popularity,
    reports,
    research,
    schedule,
    security,
    series,
    surveys,
)
from resources.upstreams.frames import concat
from resources.upstreams.notices import notice_frame
from resources.upstreams.paging import Page, collected
from resources.upstreams.symbols import instrument

Rows = Sequence[Mapping[str, Any]]

_MOST_PAGES = 120
_CODES_PER_CALL = 100


class EastmoneyClient:
    """`fetcher` is a transport bound to the log of one piece of work, `clock` the market clock.

    Symbols are `sh600519`. Frames have fixed columns also when empty; units as in the data dictionary.
    """

    source = "eastmoney"

    def __init__(self, fetcher: Fetcher, clock: Clock) -> None:
        self._fetcher = fetcher
        self._clock = clock

    # --- lists

    def clist(
        self, fs: str, names: str, read: Callable[[Rows], pd.DataFrame], *, key: str, complete: bool = True
    ) -> pd.DataFrame:
        """All rows of the list `fs` with the fields `names`, page by page; `read` makes a frame of the
        raw rows of one page, `key` is the column that must not repeat.

        With `complete` a list that ends before its own `total` (or whose total moves) is a
        `PayloadError`; board lists count wrongly, so they pass False and take what they receive."""
        parts: list[pd.DataFrame] = []
        received, total = 0, None
        for page in range(1, _MOST_PAGES + 1):
            got = self._fetcher.call(
                lists.clist_request(fs, names, page),
                partial(lists.parse_page, what=f"clist page {page}", read=read),
            )
            parts.append(got.rows)
            received += len(got)
            if complete and len(got) and total not in {None, got.total}:
                raise PayloadError(f"clist {fs}: total moved from {total} to {got.total}", source=self.source)
            total = got.total if total is None else total
            if len(got) < lists.PAGE or (complete and received >= total):
                break
        if complete and received != (total or 0):
            raise PayloadError(f"clist {fs}: {received} of {total} rows", source=self.source)
        rows = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        if rows[key].duplicated().any():
            raise PayloadError(f"clist {fs}: a row came on two pages", source=self.source)
        return rows

    def stock_list(self) -> pd.DataFrame:
        """Every A share with quote, caps, ratios, industry, concepts and today's money flow with its
        in and out sums; columns `STOCK_COLUMNS`. About 56 calls."""
        return self.clist(lists.ALL_A, fields.wire_fields(lists.STOCK_FIELDS), lists.stock_rows, key="symbol")

    def boards(self, kind: str) -> pd.DataFrame:
        """The industry, concept or region boards; columns `BOARD_COLUMNS`."""
        if kind not in lists.BOARD_FILTERS:
            raise InputError("kind", f"{kind!r} is none of {', '.join(lists.BOARD_FILTERS)}")
        names = fields.wire_fields(lists.BOARD_FIELDS)
        read = partial(lists.board_rows, kind=kind)
        return self.clist(lists.BOARD_FILTERS[kind], names, read, key="board_code", complete=False)

    def board_members(self, board_code: str) -> pd.DataFrame:
        """Constituents of one board; columns `MEMBER_COLUMNS`."""
        read = partial(lists.member_rows, board_code=board_code)
        fs = lists.board_filter(board_code)
        return self.clist(fs, "f3,f12,f13,f14", read, key="symbol", complete=False)

    def ulist(self, symbols: Sequence[str]) -> pd.DataFrame:
        """Quotes and money flow of named securities and indices, 100 a call; columns `QUOTE_COLUMNS`."""
        names = fields.wire_fields((*lists.INDEX_FIELDS, *lists.FLOW_FIELDS))
        asked = list(dict.fromkeys(symbols))
        parts = []
        for at in range(0, len(asked), _CODES_PER_CALL):
            some = asked[at : at + _CODES_PER_CALL]
            parts.append(
                self._fetcher.call(lists.ulist_request(some, names), partial(lists.parse_ulist, symbols=some))
            )
        return concat(parts, lists.QUOTE_COLUMNS)

    def slist(self, symbol: str) -> pd.DataFrame:
        """The boards of one stock, kinds mixed; columns `SLIST_COLUMNS`."""
        return self._fetcher.call(lists.slist_request(symbol), partial(lists.parse_slist, symbol=symbol))

    def stock_get(self, symbol: str) -> pd.DataFrame:
        """One security with its book; at most one row, columns `SECURITY_COLUMNS`."""
        return self._fetcher.call(
            security.security_request(symbol), partial(security.parse_security, symbol=symbol)
        )

    # --- reports of the data centre

    def report(self, report: reports.Report, read: Callable[[Rows], pd.DataFrame]) -> pd.DataFrame:
        """All rows of a report, page by page, made a frame by `read`; empty when there are truly none.

        A report that ends before its own count, whose count moves, or that repeats a row is a
        `PayloadError`; one beyond the gateway's 100 pages as well: ask for less of it."""
        parts: list[pd.DataFrame] = []
        received, count = 0, 0
        for page in range(1, reports.MOST_PAGES + 1):
            got = self._fetcher.call(
                reports.report_request(report, page),
                partial(reports.parse_report, what=f"{report.name} page {page}", read=read),
            )
            if page > 1 and got.count != count:
                raise PayloadError(
                    f"{report.name}: count moved from {count} to {got.count}", source=self.source
                )
            count = got.count
            parts.append(got.rows)
            received += len(got)
            if received >= count or not len(got):
                break
        if received != count:
            raise PayloadError(f"{report.name}: {received} of {count} rows", source=self.source)
        rows = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        if report.key and rows.duplicated(subset=list(report.key)).any():
            raise PayloadError(f"{report.name}: a row came twice", source=self.source)
        return rows

    def margin(self, day: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Margin trading of every security (or of at most 100 codes) on one trade date; columns
        `MARGIN_COLUMNS`. About 8 calls for the market, one for codes."""
        _few(codes)
        rows = self.report(margin.margin_report(day, codes), margin.margin_rows)
        if not rows["date"].eq(day).all():
            raise PayloadError(f"margin: rows of {rows['date'].max()}, asked was {day}", source=self.source)
        return rows

    def summaries(self, period: str) -> pd.DataFrame:
        """Key figures of every A share in one report period, cumulative; columns `SUMMARY_COLUMNS` without
        `security_type`. About 11 calls."""
        return self._of_period(finance.summary_report(period), finance.summary_rows, period)

    def summaries_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """The same of at most 100 codes, all periods. About 10 calls for 100 codes."""
        return self._of_codes(finance.summary_report(None, codes), finance.summary_rows, codes)

    def statements(self, period: str) -> pd.DataFrame:
        """Balance, income and cash flow of every A share in one report period; columns `STATEMENT_COLUMNS`.
        About 33 calls."""
        return self._statements(
            lambda name, read: self._of_period(finance.statement_report(name, period), read, period)
        )

    def statements_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """The same of at most 100 codes, all periods. About 30 calls for 100 codes."""
        return self._statements(
            lambda name, read: self._of_codes(finance.statement_report(name, None, codes), read, codes)
        )

    def _statements(self, ask: Callable[[str, Callable[[Rows], pd.DataFrame]], pd.DataFrame]) -> pd.DataFrame:
        parts = [
            finance.long_statement(ask(name, partial(finance.statement_rows, statement=name)), name)
            for name in finance.STATEMENTS
        ]
        return concat(parts, finance.STATEMENT_COLUMNS)

    def express(self, period: str) -> pd.DataFrame:
        """Express reports of one report period; columns `EXPRESS_COLUMNS` without `security_type`."""
        return self._of_period(finance.express_report(period), finance.express_rows, period)

    def express_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Express reports of at most 100 codes, all periods."""
        return self._of_codes(finance.express_report(None, codes), finance.express_rows, codes)

    def forecasts(self, period: str) -> pd.DataFrame:
        """Forecasts of one report period, a row per indicator and notice; columns `FORECAST_COLUMNS` without
        `security_type`."""
        return self._of_period(finance.forecast_report(period), finance.forecast_rows, period)

    def forecasts_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Forecasts of at most 100 codes, all periods."""
        return self._of_codes(finance.forecast_report(None, codes), finance.forecast_rows, codes)

    def _of_period(
        self, report: reports.Report, read: Callable[[Rows], pd.DataFrame], period: str
    ) -> pd.DataFrame:
        rows = self.report(report, read)
        if not rows["report_period"].eq(period).all():
            wrong = rows.loc[rows["report_period"] != period, "report_period"].iloc[0]
            raise PayloadError(f"{report.name}: rows of {wrong}, asked was {period}", source=self.source)
        return finance.of_shares(rows)

    def _of_codes(
        self, report: reports.Report, read: Callable[[Rows], pd.DataFrame], codes: Sequence[str]
    ) -> pd.DataFrame:
        _few(codes)
        rows = self.report(report, read)
        strange = sorted(set(rows["code"]) - set(codes))
        if strange:
            raise PayloadError(
                f"{report.name}: rows of {strange[0]}, which was not asked", source=self.source
            )
        return finance.of_shares(rows)

    # --- pages of one company

    def main_indicators(self, symbol: str) -> pd.DataFrame:
        """Every report period of one company with all its indicators, newest first; columns `MAIN_COLUMNS`.
        One call."""
        parts: list[pd.DataFrame] = []
        received, count = 0, 0
        for page in range(1, _MOST_PAGES + 1):
            got = self._fetcher.call(f10.main_request(symbol, page), partial(f10.parse_main, symbol=symbol))
            parts.append(got.rows)
            received, count = received + len(got), got.count
            if received >= count or not len(got):
                break
        if received != count:
            raise PayloadError(f"main indicators {symbol}: {received} of {count} periods", source=self.source)
        rows = concat(parts, f10.MAIN_COLUMNS)
        if rows["report_period"].duplicated().any():
            raise PayloadError(f"main indicators {symbol}: a period came twice", source=self.source)
        return rows

    def company_statements(self, symbol: str, periods: int = 20) -> pd.DataFrame:
        """The three statements of one company with every item, of its newest `periods` report periods;
        columns `STATEMENT_COLUMNS`. A call for the form, one per statement for the dates, and one per five
        periods and statement: 16 for five years."""
        kind = self._fetcher.call(f10.kind_request(symbol), partial(f10.parse_kind, symbol=symbol))
        parts = []
        for statement in finance.STATEMENTS:
            page = f10.Page(symbol, statement, kind)
            dates = self._fetcher.call(f10.dates_request(page), partial(f10.parse_dates, page=page))[:periods]
            for at in range(0, len(dates), f10.DATES_PER_CALL):
                some = dates[at : at + f10.DATES_PER_CALL]
                parts.append(
                    self._fetcher.call(
                        f10.statement_request(page, some),
                        partial(f10.parse_statement, page=page, periods=some),
                    )
                )
        return concat(parts, finance.STATEMENT_COLUMNS)

    def holder_counts(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Holder counts whose notice came out in [since, until] (None: ever), of every security or of at
        most 100 codes; columns `HOLDER_COLUMNS`. One call per 500 rows: one for an ordinary day, about ten
        at the end of April."""
        _few(codes)
        rows = self.report(holders.holder_report(since, until, codes), holders.holder_rows)
        return self._asked(rows, "ann_date", since, until, codes, what="holders")

    def dividends(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Dividends whose newest notice (plan, meeting or implementation) came out in [since, until] (None:
        ever), of every security or of at most 100 codes; columns `DIVIDEND_COLUMNS`. One call per 500 rows:
        one for an ordinary day."""
        _few(codes)
        rows = self.report(dividends.dividend_report(since, until, codes), dividends.dividend_rows)
        return self._asked(rows, "notice_date", since, until, codes, what="dividends")

    def executive_trades(
        self, since: str | None, until: str, codes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Trades of executives in their own company on the days of [since, until] (None: ever), in every
        security or in at most 100 codes; columns `TRADE_COLUMNS`. One call per 500 rows: one for a week."""
        _few(codes)
        rows = self.report(insiders.trades_report(since, until, codes), insiders.trade_rows)
        return self._asked(rows, "change_date", since, until, codes, what="executives")

    def surveys(self, since: str | None, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Named visitors of companies whose notice came out in [since, until] (None: ever), of every
        security or of at most 100 codes; columns `VISIT_COLUMNS` and `content`. Two questions, one call per
        500 rows: about four for an ordinary day, twenty in the weeks after a report season."""
        _few(codes)
        visitors = self.report(surveys.visitors_report(since, until, codes), surveys.visitor_rows)
        told = self.report(surveys.texts_report(since, until, codes), surveys.text_rows)
        visit = ["code", "survey_date", "ann_date"]
        named = visitors[visitors["org_name"].notna()]
        rows = named.merge(told.drop_duplicates(subset=visit), how="left", on=visit)
        return self._asked(rows, "ann_date", since, until, codes, what="surveys")

    def org_holdings(self, period: str, org_type: str) -> pd.DataFrame:
        """Shares that one kind of institution (a value of `institutions.ORG_TYPES`) held of every security at
        the end of a report period; columns `HOLDING_COLUMNS`. At most eleven calls."""
        rows = self.report(institutions.holdings_report(period, org_type), institutions.holding_rows)
        if not (rows["report_period"].eq(period).all() and rows["org_type"].eq(org_type).all()):
            raise PayloadError(f"institutions: rows not of {period} {org_type}", source=self.source)
        return rows

    def org_holdings_of(self, codes: Sequence[str], since: str, until: str) -> pd.DataFrame:
        """Shares that institutions of all kinds held of at most 100 codes at the ends of the report periods
        in [since, until]; columns `HOLDING_COLUMNS`."""
        _few(codes)
        report = institutions.holdings_of_report(codes, since, until)
        rows = self.report(report, institutions.holding_rows)
        return self._asked(rows, "report_period", since, until, codes, what="institutions")

    def _asked(
        self,
        rows: pd.DataFrame,
        column: str,
        since: str | None,
        until: str,
        codes: Sequence[str] | None,
        *,
        what: str,
    ) -> pd.DataFrame:
        """The rows, when all of them are of the days and codes that were asked for."""
        days = rows[column].dropna()
        strange = days[(days > until) | (days < (since or ""))]
        if len(strange):
            raise PayloadError(
                f"{what}: rows of {strange.iloc[0]}, asked was {since}..{until}", source=self.source
            )
        if codes is not None and not set(rows["code"]) <= set(codes):
            raise PayloadError(f"{what}: rows of codes that were not asked for", source=self.source)
        return rows

    def disclosure_schedule(self, period: str) -> pd.DataFrame:
        """Planned and actual disclosure dates of every company for one quarter end; columns
        `SCHEDULE_COLUMNS`. About 11 calls."""
        rows = self.report(schedule.schedule_report(period), schedule.schedule_rows)
        if not rows["report_period"].eq(period).all():
            raise PayloadError(f"schedule: rows of another period than {period}", source=self.source)
        return rows

    # --- notices, research, news

    def notices(self, since: str, until: str, code: str | None = None) -> pd.DataFrame:
        """Notices with a disclosure date between two dates, of all companies or of one; columns
        `NOTICE_COLUMNS`. One call per 100 notices."""
        what = f"portal notices {since}..{until} {code or ''}"

        def ask(page: int) -> Page:
            request = notices.notices_request(since, until, page, code)
            return self._fetcher.call(request, partial(notices.parse_notices, since=since, until=until))

        return notice_frame(collected(ask, what, most_pages=notices.MOST_PAGES), what)

    def research(self, since: str, until: str, code: str = "") -> pd.DataFrame:
        """Research reports published between two dates, on all A shares or on one; columns
        `RESEARCH_COLUMNS`. One call per 100 reports: two or three for a date."""
        what = f"research {since}..{until} {code}"

        def ask(page: int) -> Page:
            request = research.research_request(since, until, page, code)
            return self._fetcher.call(request, partial(research.parse_research, since=since, until=until))

        return research.research_frame(collected(ask, what, most_pages=research.MOST_PAGES), what)

    def articles(self, keyword: str, pages: int = 1) -> pd.DataFrame:
        """Articles that mention a word, ten a call, in the portal's order; columns `ARTICLE_COLUMNS`."""
        parts: list[pd.DataFrame] = []
        for page in range(1, pages + 1):
            parts.append(
                self._fetcher.call(
                    news.articles_request(keyword, page), partial(news.parse_articles, keyword=keyword)
                )
            )
            if len(parts[-1]) < news.ARTICLES:
                break
        return concat(parts, news.ARTICLE_COLUMNS)

    def flashes(self, since: str, most: int) -> pd.DataFrame:
        """Flash news from the newest back to the time `since`, at most `most`, newest first; columns
        `FLASH_COLUMNS`. One call per 50 items."""
        parts: list[pd.DataFrame] = []
        after, received = "", 0
        while received < most:
            size = min(news.FLASHES, most - received)
            got = self._fetcher.call(news.flashes_request(after, size), news.parse_flashes)
            parts.append(got.rows[got.rows["pub_time"] >= since])
            received += len(got)
            # The same mark again would ask the same page for ever.
            if len(parts[-1]) < max(1, len(got)) or got.after in {"", after}:
                break
            after = got.after
        # Items that were put up meanwhile push others onto the next page once more.
        return concat(parts, news.FLASH_COLUMNS).drop_duplicates("flash_id", ignore_index=True)

    def billboard(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Listings of A shares on the exchanges' billboard between two dates, of the market or of at most
        100 codes; columns `LISTING_COLUMNS`. One call for about six dates of the market."""
        return self._events(billboard.listings_report, billboard.listing_rows, since, until, codes)

    def billboard_seats(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """The seats of those listings; columns `SEAT_COLUMNS`. About two calls for a date of the market."""
        return self._events(billboard.seats_report, billboard.seat_rows, since, until, codes)

    def block_trades(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Block trades in A shares between two dates, of the market or of at most 100 codes; columns
        `DEAL_COLUMNS`. One or two calls for a date of the market."""
        return self._events(deals.deals_report, deals.deal_rows, since, until, codes)

    def lockups(self, since: str, until: str, codes: Sequence[str] | None = None) -> pd.DataFrame:
        """Releases of locked A shares between two dates, also planned ones, of the market or of at most 100
        codes; columns `LOCKUP_COLUMNS`. About eight calls for a year of the market."""
        return self._events(lockup.lockup_report, lockup.lockup_rows, since, until, codes, day="free_date")

    def _events(
        self,
        ask: Callable[[str, str, Sequence[str] | None], reports.Report],
        read: Callable[[Rows], pd.DataFrame],
        since: str,
        until: str,
        codes: Sequence[str] | None,
        day: str = "date",
    ) -> pd.DataFrame:
        """A report over dates; B shares, funds and bonds are left out."""
        _few(codes)
        report = ask(since, until, codes)
        rows = self.report(report, read)
        outside = ~rows[day].between(since, until)
        if outside.any():
            told = rows.loc[outside, day].iloc[0]
            raise PayloadError(
                f"{report.name}: a row of {told}, asked was {since}..{until}", source=self.source
            )
        return rows[rows["code"].map(is_a_share).astype(bool)].reset_index(drop=True)

    # --- pools and rankings

    def limit_pool(self, pool: str, day: str) -> pd.DataFrame:
        """Stocks `up` at the limit, `broken` (touched, not held), `down`, `prev` (the limit-ups of the trade
        date before, with their first seal and boards of then) or `strong`, on one date of the last twenty;
        columns `POOL_COLUMNS`, one call. Empty where there is nobody."""
        return self._fetcher.call(
            pools.pool_request(pool, day), partial(pools.parse_pool, pool=pool, day=day)
        )

    def popularity(self) -> pd.DataFrame:
        """The hundred most looked-at stocks of this moment; columns `RANK_COLUMNS`, one call."""
        return self._fetcher.call(popularity.ranking_request(), popularity.parse_ranking)

    # --- series

    def kline(
        self, symbol: str, *, klt: int = 101, beg: str = "", end: str = "", limit: int | None = None
    ) -> pd.DataFrame:
        """Unadjusted bars. `klt` 1, 5, 15, 30, 60 minutes (columns `MINUTE_COLUMNS`) or 101 day,
        102 week, 103 month, 104 quarter, 105 half, 106 year (`BAR_COLUMNS`). `beg`, `end` ISO dates."""
        first, last = beg.replace("-", "") or "0", end.replace("-", "") or "20500101"
        request = series.kline_request(instrument(symbol).secid, klt=klt, beg=first, end=last, limit=limit)
        return self._fetcher.call(
            request, partial(series.parse_kline, symbol=symbol, klt=klt, beg=first, end=last)
        )

    def daily_bars(self, symbol: str, beg: str = "", end: str = "") -> pd.DataFrame:
        return self.kline(symbol, klt=101, beg=beg, end=end)

    def trends2(self, symbol: str, days: int = 1) -> pd.DataFrame:
        """One-minute rows of 1..5 dates; columns `TREND_COLUMNS`."""
        return self._fetcher.call(
            series.trends_request(symbol, days), partial(series.parse_trends, symbol=symbol)
        )

    def fund_flow_daily(self, symbol: str) -> pd.DataFrame:
        """Nets of about 120 dates; columns `FLOW_COLUMNS`."""
        what = instrument(symbol)
        return self._flow_days(what.secid, what.dataset_code)

    def board_flow_daily(self, board_code: str) -> pd.DataFrame:
        return self._flow_days(f"90.{board_code}", board_code)

    def fund_flow_minutes(self, symbol: str) -> pd.DataFrame:
        """Today's nets, cumulative; columns `MINUTE_FLOW_COLUMNS`."""
        what = instrument(symbol)
        return self._fetcher.call(
            series.flow_minutes_request(what.secid),
            partial(series.parse_flow_minutes, secid=what.secid, code=what.dataset_code),
        )

    def board_flow_minutes(self, board_code: str) -> pd.DataFrame:
        secid = f"90.{board_code}"
        return self._fetcher.call(
            series.flow_minutes_request(secid),
            partial(series.parse_flow_minutes, secid=secid, code=board_code),
        )

    def _flow_days(self, secid: str, code: str) -> pd.DataFrame:
        return self._fetcher.call(
            series.flow_days_request(secid), partial(series.parse_flow_days, secid=secid, code=code)
        )

    # --- stock connect

    def connect_channels(self) -> pd.DataFrame:
        """The four channels of today (kamt); columns `CHANNEL_COLUMNS`, 10k CNY."""
        return self._fetcher.call(connect.channels_request(), connect.parse_channels)

    def connect_minutes(self) -> pd.DataFrame:
        """Cumulative nets per minute (kamt.rtmin); columns `connect.MINUTE_COLUMNS`, 10k CNY."""
        return self._fetcher.call(
            connect.minutes_request(), partial(connect.parse_minutes, now=self._clock.now())
        )


def _few(codes: Sequence[str] | None) -> None:
    """InputError for more codes than one filter holds, or none."""
    if codes is not None and not 1 <= len(codes) <= _CODES_PER_CALL:
        raise InputError("codes", f"{len(codes)} codes; 1..{_CODES_PER_CALL} are allowed")
