"""Calls for texts: notices, research, articles, flash news."""

import pandas as pd

from resources.upstreams.eastmoney.gateway import Gateway
from resources.upstreams.eastmoney.news import articles as news
from resources.upstreams.eastmoney.news import notices, research
from resources.upstreams.parsing.frames import concat
from resources.upstreams.parsing.paging import Page, collected
from resources.upstreams.parsing.texts import notice_frame


class PressCalls(Gateway):
    """Notices, research, articles, flash news."""

    def notices(self, since: str, until: str, code: str | None = None) -> pd.DataFrame:
        """Notices with a disclosure date between two dates, of all companies or of one; columns
        `NOTICE_COLUMNS`. One call per 100 notices."""
        what = f"portal notices {since}..{until} {code or ''}"

        def ask(page: int) -> Page:
            request = notices.notices_request(since, until, page, code)
            return self._ask(request, notices.parse_notices, since=since, until=until)

        return notice_frame(collected(ask, what, most_pages=notices.MOST_PAGES, key=("ann_id", "code")), what)

    def research(self, since: str, until: str, code: str = "") -> pd.DataFrame:
        """Research reports published between two dates, on all A shares or on one; columns
        `RESEARCH_COLUMNS`. One call per 100 reports: two or three for a date."""
        what = f"research {since}..{until} {code}"

        def ask(page: int) -> Page:
            request = research.research_request(since, until, page, code)
            return self._ask(request, research.parse_research, since=since, until=until)

        return research.research_frame(
            collected(ask, what, most_pages=research.MOST_PAGES, key=("info_code", "code")), what
        )

    def articles(self, keyword: str, pages: int = 1) -> pd.DataFrame:
        """Articles that mention a word, ten a call, in the portal's order; columns `ARTICLE_COLUMNS`."""
        parts: list[pd.DataFrame] = []
        for page in range(1, pages + 1):
            parts.append(
                self._ask(news.articles_request(keyword, page), news.parse_articles, keyword=keyword)
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
            got = self._ask(news.flashes_request(after, size), news.parse_flashes)
            parts.append(got.rows[got.rows["pub_time"] >= since])
            received += len(got)
            # The same mark again would ask the same page for ever.
            if len(parts[-1]) < max(1, len(got)) or got.after in {"", after}:
                break
            after = got.after
        # Items that were put up meanwhile push others onto the next page once more.
        return concat(parts, news.FLASH_COLUMNS).drop_duplicates("flash_id", ignore_index=True)
