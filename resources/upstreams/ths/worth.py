"""Earnings that brokers expect of one company, a page of the topic portal (worth.html): GBK, tables in a
fixed order. Table 0 is EPS by year, 1 net profit in 100 million CNY, 2 the brokers' own forecasts with their
days; without forecasts the first two are missing and a sentence says so."""

import math
import re
from typing import Any

import pandas as pd

from core.declaration.frames import canonical_json
from core.errors import PayloadError, Refused, Transient
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.html_tables import html_tables
from resources.upstreams.parsing.payload import (
    amount,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    price,
    required,
    string_of,
    whole,
)
from resources.upstreams.parsing.payload import text_of as decoded
from resources.upstreams.parsing.rows import (
    count,
    kinds_of,
    may,
    needed,
    security_code,
    text_or_none,
    values_of,
)
from resources.upstreams.ths.limits import answered

# -- Popularity list of the moment, and the strong stocks of a date with the topics behind them.

_HOT = (
    *may(count, order="rank_no"),
    *may(number, hot_rank_chg="rank_change", rise_and_fall="change_pct"),
    *may(amount, rate="heat"),
)
_STRONG = (
    *may(price, close="price"),
    *may(needed(number), zhangfu="change_pct"),
    *may(number, huanshou="turnover_pct", ddejingliang="large_net"),
    *may(amount, chengjiaoe="amount", chengjiaoliang="volume"),
)
HOT_COLUMNS = texts("code name reason tags") | kinds_of(_HOT)
STRONG_COLUMNS = texts("date code name reason tags") | kinds_of(_STRONG)


def hot_request() -> Request:
    """The hundred most looked-at stocks of the day so far."""
    params = (("stock_type", "a"), ("type", "day"), ("list_type", "normal"))
    return Request("ths.hot", "hot_list", "/fuyao/hot_list_data/out/hot_list/v1/stock", params, label="day")


def parse_hot(body: bytes) -> pd.DataFrame:
    """Columns `HOT_COLUMNS`, best first; `tags` a JSON list of concepts."""
    data = answered(body, "hot_list")
    raws = list_of(data.get("stock_list"), "stock_list")
    made = accepted_rows(raws, lambda raw: _hot(object_of(raw, "hot_list row")), "hot_list", named_by("code"))
    rows = once_each(frame(made, HOT_COLUMNS), ["code"], "hot_list")
    ranks = rows["rank_no"].tolist()
    whole_list = len(raws) == len(rows)
    if ranks != (list(range(1, len(rows) + 1)) if whole_list else sorted(set(ranks))):
        raise PayloadError("hot_list: ranks that do not run from 1")
    return rows


def _hot(item: dict[str, Any]) -> dict[str, Any]:
    code = security_code(item.get("code"), "hot_list")
    tag = object_of(item.get("tag") or {}, f"{code} tag")
    return {
        "code": code,
        "name": string_of(item.get("name"), f"{code} name").strip(),
        "reason": text_or_none(item.get("analyse_title"), f"{code} analyse_title"),
        "tags": _tags(list_of(tag.get("concept_tag") or [], f"{code} concept_tag"), code),
        **values_of(item, _HOT, code),
    }


def strong_request(day: str) -> Request:
    """The strong stocks of a date."""
    path = f"/event/api/getharden/date/{day}/orderby/date/orderway/desc/charset/GBK/"
    return Request("ths.events", "getharden", path, label=day)


def parse_strong(body: bytes, day: str) -> pd.DataFrame:
    """Columns `STRONG_COLUMNS`; `tags` a JSON list, the parts of `reason`. Empty on a day without trading.
    PayloadError for rows of another date."""
    document = object_of(json_of(decoded(body, "gb18030").encode()), "getharden")
    status = document.get("errocode")  # as it is spelled there
    if str(status) != "0":
        raise PayloadError(f"getharden: errocode {status!r} {str(document.get('errormsg'))[:60]}")
    raws = list_of(document.get("data") or [], "getharden data")

    def read(raw: Any) -> dict[str, Any]:
        return _strong(object_of(raw, "getharden row"), day)

    rows = accepted_rows(raws, read, "getharden", named_by("code"))
    return once_each(frame(rows, STRONG_COLUMNS), ["code"], "getharden")


def _strong(item: dict[str, Any], day: str) -> dict[str, Any]:
    code = security_code(item.get("code"), "getharden")
    own_day = iso_day(str(item.get("date")), f"{code} date")
    if own_day != day:
        raise PayloadError(f"getharden {code}: of {own_day}, asked was {day}")
    reason = text_or_none(item.get("reason"), f"{code} reason")
    return {
        "date": day,
        "code": code,
        "name": string_of(item.get("name"), f"{code} name").strip(),
        "reason": reason,
        "tags": _tags((reason or "").split("+"), code),
        **values_of(item, _STRONG, code),
    }


def _tags(parts: list[Any], code: str) -> str | None:
    found = [string_of(part, f"{code} tag").strip() for part in parts]
    kept = list(dict.fromkeys(part for part in found if part))
    return canonical_json(kept) if kept else None


WORTH_COLUMNS: dict[str, str] = {
    **texts("code update_date"),
    **numbers("forecast_year org_count eps_min eps_mean eps_max net_profit_mean industry_mean"),
}
_NOBODY = "本年度暂无机构做出业绩预测"
_HEAD = ["年度", "预测机构数", "最小值", "均值", "最大值", "行业平均数"]
_YI = 1e8
_LARGEST_EPS = 1000
_DAY = re.compile(r"20\d\d-\d\d-\d\d")


def worth_request(code: str) -> Request:
    """The page of one company."""
    return Request("ths.f10", "worth", f"/new/{code}/worth.html", label=code)


def parse_worth(body: bytes, code: str) -> pd.DataFrame:
    """Columns `WORTH_COLUMNS`, a row per year, CNY; `update_date` is the day of the newest forecast. Empty
    without forecasts. Refused for another page, PayloadError for one that fails validation."""
    what = f"worth {code}"
    if not body.strip():
        raise Transient("empty body")
    try:
        text = body.decode("gb18030")
    except UnicodeDecodeError as error:
        raise PayloadError(f"{what}: not GBK: {error.reason} at byte {error.start}") from error
    if "<table" not in text and _NOBODY not in text:
        raise Refused("a page without tables")
    if code not in text:
        raise PayloadError(f"{what}: the page is not of this code")
    if "</html>" not in text.lower():
        raise PayloadError(f"{what}: the page is cut")
    if _NOBODY in text:
        return frame([], WORTH_COLUMNS)
    tables = html_tables(text)
    if len(tables) < 2:
        raise PayloadError(f"{what}: {len(tables)} tables")
    profits = {row[0]: row for row in _rows(tables[1], f"{what} profit")}
    days = [cell for row in tables[2] for cell in row if _DAY.fullmatch(cell)] if len(tables) > 2 else []
    newest = max((iso_day(day, f"{what} day") for day in days), default=None)

    def read(row: list[str]) -> dict[str, Any]:
        made = _year(row, profits.get(row[0]), f"{what} {row[0][:8]}")
        return {"code": code, "update_date": newest, **made}

    rows = accepted_rows(_rows(tables[0], what), read, what, lambda row: row[0])
    return once_each(frame(rows, WORTH_COLUMNS), ["forecast_year"], what)


def _rows(table: list[list[str]], what: str) -> list[list[str]]:
    """The rows below the head, which must be the known one."""
    if not table or table[0] != _HEAD:
        raise PayloadError(f"{what}: the head of the table is {table[0][:6] if table else 'missing'}")
    wrong = next((row for row in table[1:] if len(row) != len(_HEAD)), None)
    if wrong is not None:
        raise PayloadError(f"{what}: a row of {len(wrong)} cells")
    return table[1:]


def _year(row: list[str], profit: list[str] | None, what: str) -> dict[str, Any]:
    year = whole(number(row[0], f"{what} year"), f"{what} year")
    if not 2000 <= year <= 2100:
        raise PayloadError(f"{what}: no plausible year")
    low, mean, high = (number(row[at], f"{what} {_HEAD[at]}") for at in (2, 3, 4))
    required(mean, f"{what} mean")
    if not math.isnan(low + high) and not low <= mean <= high:
        raise PayloadError(f"{what}: the mean {mean} is not between {low} and {high}")
    if abs(mean) > _LARGEST_EPS:
        raise PayloadError(f"{what}: EPS {mean} CNY is not plausible")
    earned = math.nan
    if profit is not None:
        earned = number(profit[3], f"{what} profit", digits=2, scale=_YI)
        if not math.isnan(earned) and earned * mean < 0:
            raise PayloadError(f"{what}: profit {profit[3]} and EPS {mean} have two signs")
    return {
        "forecast_year": year,
        "org_count": amount(row[1], f"{what} brokers"),
        "eps_min": low,
        "eps_mean": mean,
        "eps_max": high,
        "net_profit_mean": earned,
        "industry_mean": number(row[5], f"{what} industry"),
    }
