"""News of the portal: articles that mention a keyword (search-api), and flash news (np-weblist)."""

import json
import re
from dataclasses import dataclass
from typing import Any

import orjson
import pandas as pd

from core.errors import PayloadError, Refused
from core.market.securities import board_of
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request, pairs
from resources.upstreams.hosts import LINKS
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import whole_number
from resources.upstreams.parsing.payload import json_of, list_of, moment, object_of, string_of
from resources.upstreams.parsing.texts import plain_text, stock_codes, web_address

ARTICLE_COLUMNS = texts("article_id pub_time title content media url")
FLASH_COLUMNS: dict[str, str] = {
    **texts("flash_id pub_time title content media codes boards url"),
    **numbers("importance"),
}
"""`codes`, `boards`: JSON lists of A-share codes and board codes; `importance` 0 plain, 1 marked, 2 red."""
ARTICLES, FLASHES = 10, 50
"""Rows of a page, as the portal's own pages ask for them."""
_KIND = "cmsArticleWebOld"
_ID = re.compile(r"[0-9A-Za-z]{1,32}")
_SECOND = "%Y-%m-%d %H:%M:%S"
_RED = 3
_MARKETS = {"0.": ("SZ", "BJ"), "1.": ("SH",)}


def articles_request(keyword: str, page: int) -> Request:
    """One page of the articles that mention a word (a code)."""
    asked = {
        "uid": "",
        "keyword": keyword,
        "type": [_KIND],
        "client": "web",
        "clientType": "web",
        "clientVersion": "curr",
        "param": {
            _KIND: {
                "searchScope": "default",
                "sort": "default",
                "pageIndex": page,
                "pageSize": ARTICLES,
                "preTag": "<em>",
                "postTag": "</em>",
            }
        },
    }
    params = (("cb", "jQuery_news"), ("param", json.dumps(asked, ensure_ascii=False, separators=(",", ":"))))
    return Request("eastmoney.search", "articles", "/search/jsonp", params, label=f"{keyword} page {page}")


def parse_articles(body: bytes, keyword: str) -> pd.DataFrame:
    """Columns `ARTICLE_COLUMNS`, as ordered by the portal. Refused when the answer lacks the list of
    articles, which is how the search refuses a client; an empty list is 'no news'."""
    what = f"articles {keyword}"
    document = object_of(json_of(body), what)
    if document.get("code") != 0:
        raise PayloadError(f"{what}: code {document.get('code')!r:.40}")
    result = object_of(document.get("result"), f"{what} result")
    if _KIND not in result:
        raise Refused(f"{what}: the search answers without articles ({', '.join(list(result)[:3])[:80]})")
    listed = list_of(result[_KIND], f"{what} list")
    rows = accepted_rows(listed, lambda row: _article(object_of(row, f"{what} row")), what, named_by("code"))
    return frame(rows, ARTICLE_COLUMNS)


def _article(row: dict[str, Any]) -> dict[str, Any]:
    article = string_of(row.get("code"), "article code")
    what = f"article {article[:40]}"
    title = plain_text(row.get("title"), f"{what} title", 512)
    if not title:
        raise PayloadError(f"{what} title is empty")
    return {
        "article_id": article[:64],
        "pub_time": _time(row.get("date"), f"{what} date"),
        "title": title,
        "content": plain_text(row.get("content") or "", f"{what} content") or None,
        "media": plain_text(row.get("mediaName") or "", f"{what} mediaName", 64) or None,
        "url": web_address(row.get("url")),
    }


def flashes_request(after: str, size: int = FLASHES) -> Request:
    """The newest flash news, or those before the mark `after`."""
    params = pairs(f"client=web&biz=web_724&fastColumn=102&sortEnd={after}&pageSize={size}&req_trace=1")
    return Request("eastmoney.flash", "flash", "/comm/web/getFastNewsList", params, label=after or "newest")


@dataclass(frozen=True)
class Flashes:
    """One page, newest first, and the mark of the next one ('' at the end)."""

    rows: pd.DataFrame
    after: str
    total: int

    def __len__(self) -> int:
        return len(self.rows)


def parse_flashes(body: bytes) -> Flashes:
    """Rows: columns `FLASH_COLUMNS`."""
    document = object_of(json_of(body), "flash news")
    if document.get("code") != "1":
        raise PayloadError(f"flash news: code {document.get('code')!r:.40}")
    data = object_of(document.get("data"), "flash news data")
    listed = list_of(data.get("fastNewsList"), "flash news list")
    made = accepted_rows(
        listed, lambda row: _flash(object_of(row, "flash row")), "flash news", named_by("code")
    )
    rows = once_each(frame(made, FLASH_COLUMNS), ["flash_id"], "flash news")
    after = data.get("sortEnd")
    mark = "" if after is None else string_of(after, "flash news sortEnd")
    return Flashes(rows, mark, whole_number(data.get("total", len(listed)), "flash news total"))


def _flash(row: dict[str, Any]) -> dict[str, Any]:
    flash = string_of(row.get("code"), "flash code")
    if not _ID.fullmatch(flash):
        raise PayloadError(f"flash code {flash[:40]!r}")
    what = f"flash {flash}"
    securities = [
        string_of(one, f"{what} stock") for one in list_of(row.get("stockList") or [], f"{what} stockList")
    ]
    content = plain_text(row.get("summary") or "", f"{what} summary")
    title = plain_text(row.get("title") or "", f"{what} title", 255) or content[:255]
    if not title:
        raise PayloadError(f"{what}: neither title nor summary")
    colour = whole_number(row.get("titleColor"), f"{what} titleColor")
    shares = [
        code
        for one in securities
        for code in stock_codes(one[2:])
        if any(board_of(code, market) for market in _MARKETS.get(one[:2], ()))  # 1.000001 is an index
    ]
    boards = [one[3:] for one in securities if one.startswith("90.")]
    return {
        "flash_id": flash,
        "pub_time": _time(row.get("showTime"), f"{what} showTime"),
        "title": title,
        "content": content or None,
        "media": "东方财富",
        "importance": 0 if not colour else 2 if colour == _RED else 1,
        "codes": orjson.dumps(shares).decode(),
        "boards": orjson.dumps(boards).decode(),
        "url": LINKS["eastmoney.article"].format(flash),
    }


def _time(value: Any, what: str) -> str:
    return str(moment(string_of(value, what)[:19], _SECOND, what))
