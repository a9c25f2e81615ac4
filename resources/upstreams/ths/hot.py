"""Popularity list of the moment, and the strong stocks of a date with the topics behind them."""

from typing import Any

import pandas as pd

from core.declaration.frames import canonical_json
from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
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
from resources.upstreams.ths.limits import answered, code_of, text_of

HOT_COLUMNS: dict[str, str] = {
    **texts("code name reason tags"),
    **numbers("rank_no rank_change heat change_pct"),
}
STRONG_COLUMNS: dict[str, str] = {
    **texts("date code name reason tags"),
    **numbers("price change_pct turnover_pct amount volume large_net"),
}


def hot_request() -> Request:
    """The hundred most looked-at stocks of the day so far."""
    params = (("stock_type", "a"), ("type", "day"), ("list_type", "normal"))
    return Request("ths.hot", "hot_list", "/fuyao/hot_list_data/out/hot_list/v1/stock", params, label="day")


def parse_hot(body: bytes) -> pd.DataFrame:
    """Columns `HOT_COLUMNS`, best first; `tags` a JSON list of concepts."""
    data = answered(body, "hot_list")
    raws = [object_of(raw, "hot_list row") for raw in list_of(data.get("stock_list"), "stock_list")]
    rows = accepted_rows(raws, _hot, "hot_list", lambda item: item.get("code"))
    ranks = [row["rank_no"] for row in rows]
    whole_list = len(raws) == len(rows)
    run = ranks == list(range(1, len(rows) + 1)) if whole_list else ranks == sorted(set(ranks))
    if len({row["code"] for row in rows}) != len(rows) or not run:
        raise PayloadError("hot_list: a stock twice, or ranks that do not run from 1")
    return frame(rows, HOT_COLUMNS)


def _hot(item: dict[str, Any]) -> dict[str, Any]:
    code = code_of(item.get("code"), "hot_list")
    tag = object_of(item.get("tag") or {}, f"{code} tag")
    return {
        "code": code,
        "name": string_of(item.get("name"), f"{code} name").strip(),
        "reason": text_of(item.get("analyse_title"), f"{code} analyse_title"),
        "tags": _tags(list_of(tag.get("concept_tag") or [], f"{code} concept_tag"), code),
        "rank_no": whole(number(item.get("order"), f"{code} order"), f"{code} order"),
        "rank_change": number(item.get("hot_rank_chg"), f"{code} hot_rank_chg"),
        "heat": amount(item.get("rate"), f"{code} rate"),
        "change_pct": number(item.get("rise_and_fall"), f"{code} rise_and_fall"),
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
    raws = [object_of(raw, "getharden row") for raw in list_of(document.get("data") or [], "getharden data")]
    rows = accepted_rows(raws, lambda item: _strong(item, day), "getharden", lambda item: item.get("code"))
    if len({row["code"] for row in rows}) != len(rows):
        raise PayloadError("getharden: a stock appears twice")
    return frame(rows, STRONG_COLUMNS)


def _strong(item: dict[str, Any], day: str) -> dict[str, Any]:
    code = code_of(item.get("code"), "getharden")
    stated = iso_day(str(item.get("date")), f"{code} date")
    if stated != day:
        raise PayloadError(f"getharden {code}: of {stated}, asked was {day}")
    reason = text_of(item.get("reason"), f"{code} reason")
    return {
        "date": day,
        "code": code,
        "name": string_of(item.get("name"), f"{code} name").strip(),
        "reason": reason,
        "tags": _tags((reason or "").split("+"), code),
        "price": price(item.get("close"), f"{code} close"),
        "change_pct": required(number(item.get("zhangfu"), f"{code} zhangfu"), f"{code} zhangfu"),
        "turnover_pct": number(item.get("huanshou"), f"{code} huanshou"),
        "amount": amount(item.get("chengjiaoe"), f"{code} chengjiaoe"),
        "volume": amount(item.get("chengjiaoliang"), f"{code} chengjiaoliang"),
        "large_net": number(item.get("ddejingliang"), f"{code} ddejingliang"),
    }


def _tags(parts: list[Any], code: str) -> str | None:
    found = [string_of(part, f"{code} tag").strip() for part in parts]
    kept = list(dict.fromkeys(part for part in found if part))
    return canonical_json(kept) if kept else None
