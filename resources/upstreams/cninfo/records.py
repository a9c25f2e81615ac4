"""Records of the data service by field: holder counts of a quarter end (p_sysapi1034), share capital of a
company (p_stock2215)."""

import base64
import math
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request
from resources.upstreams.cninfo.announcements import FORM
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import Page, whole_number
from resources.upstreams.parsing.payload import (
    amount,
    is_no_day,
    iso_day,
    json_of,
    list_of,
    number,
    object_of,
    promised,
    required,
    string_of,
)
from resources.upstreams.parsing.rows import code_of, day_of, named
from resources.upstreams.parsing.texts import plain_text

# -- The data service of the platform: the common form of its requests and answers.
# A request bears its own time, encrypted with a key that the site's pages hold; without it, or with a time
# of some minutes ago, the answer has another `resultcode`.

_KEY = b"1234567887654321"
_EPOCH = datetime(1970, 1, 1)
_SHANGHAI = timedelta(hours=8)


def time_header(now: datetime) -> str:
    """Base64 of AES-128-CBC of the Unix seconds of a moment in Shanghai."""
    seconds = str(int((now - _SHANGHAI - _EPOCH).total_seconds())).encode()
    padder = PKCS7(128).padder()
    padded = padder.update(seconds) + padder.finalize()
    # The site's own cipher: it hides nothing, and turns away requests without it.
    encryptor = Cipher(algorithms.AES(_KEY), modes.CBC(_KEY)).encryptor()
    return base64.b64encode(encryptor.update(padded) + encryptor.finalize()).decode()


def data_request(
    api: str, call: str, params: tuple[tuple[str, str], ...], now: datetime, *, label: str
) -> Request:
    """A request to the service, at the market's time `now`."""
    headers = (("Accept-Enckey", time_header(now)), ("X-Requested-With", "XMLHttpRequest"))
    return Request("cninfo.data", call, api, params, label=label, method="POST", headers=headers)


def records_of(body: bytes, what: str) -> list[Any]:
    """`records` of an answer; none where the service has none. PayloadError for a request that it turned
    away and for anything that is no answer of the service, so that a failure never counts as "no records"."""
    document = object_of(json_of(body), what)
    if document.get("resultcode") != 200:
        said = str(document.get("resultmsg"))[:60]
        raise PayloadError(f"{what}: resultcode {document.get('resultcode')!r} {said}")
    if "records" not in document:
        raise PayloadError(f"{what}: no field records")
    found = document["records"]
    return [] if found is None else list_of(found, f"{what} records")


# -- p_sysapi1087 of the data service: PE of industries on one date, by one of two classifications.
# The twelve values of a record are identified by their order.

SCHEMES = {"csrc": "008001", "cni": "008200"}
RATIO_COLUMNS: dict[str, str] = {
    **texts("industry_code date industry_name level"),
    **numbers("pe_mean pe_median pe_weighted net_profit_yi total_market_cap_yi member_count"),
}
"""100 million CNY."""
_VALUES = 12


def ratios_request(scheme: str, day: str, now: datetime) -> Request:
    """`scheme` is csrc or cni."""
    params = (("tdate", day), ("sortcode", SCHEMES[scheme]))
    return data_request("/api/sysapi/p_sysapi1087", "industry_ratios", params, now, label=f"{scheme} {day}")


def parse_ratios(body: bytes, day: str) -> pd.DataFrame:
    """Columns `RATIO_COLUMNS`; empty on a date without figures. PayloadError for another date."""
    what = f"industries {day}"

    def read(raw: Any) -> dict[str, Any]:
        return _row(object_of(raw, f"{what} record"), day, what)

    made = accepted_rows(records_of(body, what), read, what, lambda raw: None)
    return once_each(frame(made, RATIO_COLUMNS), ["industry_code"], what)


def _row(raw: dict[str, Any], day: str, what: str) -> dict[str, Any]:
    values = list(raw.values())
    if len(values) != _VALUES:
        raise PayloadError(f"{what}: a record of {len(values)} values")
    level, mean, median, weighted, profit, name, code, _, cap, _, date, companies = values
    own_day = iso_day(string_of(date, f"{what} date")[:10], f"{what} date")
    if own_day != day:
        raise PayloadError(f"{what}: figures of {own_day}")
    code = string_of(code, f"{what} code").strip()
    if not 0 < len(code) <= 16 or not code.isascii() or not code.isalnum():
        raise PayloadError(f"{what}: {code[:20]!r} is no industry")
    title = string_of(name, f"{what} {code} name").strip()
    if not 0 < len(title) <= 64:
        raise PayloadError(f"{what} {code}: a name of {len(title)} characters")
    return {
        "industry_code": code,
        "date": own_day,
        "industry_name": title,
        "level": str(level)[:4] if level is not None else None,
        "pe_mean": number(mean, f"{what} {code} mean"),
        "pe_median": number(median, f"{what} {code} median"),
        "pe_weighted": number(weighted, f"{what} {code} weighted"),
        "net_profit_yi": number(profit, f"{what} {code} net profit"),
        "total_market_cap_yi": amount(cap, f"{what} {code} cap"),
        "member_count": amount(companies, f"{what} {code} companies"),
    }


# -- getPrbookInfo: when companies mean to disclose a periodic report, and when they did.

PAGE = 1000
MOST_PAGES = 20
_DATES = named(
    "first_date f002d_0102 change1_date f003d_0102 change2_date f004d_0102 change3_date f005d_0102 "
    "actual_date f006d_0102"
)
_PERIOD = "f001d_0102"


def schedule_request(period: str, page: int = 1) -> Request:
    """A page of all companies of the three exchanges for one quarter end."""
    form = {
        "sectionTime": period, "firstTime": "", "lastTime": "", "market": "szsh", "stockCode": "",
        "orderClos": "", "isDesc": "", "pagesize": str(PAGE), "pagenum": str(page),
    }  # fmt: skip
    return Request(
        "cninfo.disclosure",
        "schedule",
        "/new/information/getPrbookInfo",
        label=f"{period} page {page}",
        method="POST",
        headers=FORM,
        content=urlencode(form).encode(),
    )


def parse_schedule(body: bytes, period: str) -> Page:
    """One page, rows with the keys of `SCHEDULE`; none before the quarter's plans are out.
    PayloadError for another quarter."""
    what = f"schedule {period}"
    document = object_of(json_of(body), what)
    total = whole_number(document.get("totalRows"), f"{what} totalRows")
    listed = document.get("prbookinfos")
    raw = [] if listed is None and not total else list_of(listed, f"{what} prbookinfos")
    if len(raw) > total:
        raise PayloadError(f"{what}: {len(raw)} of {total} rows")

    def read(one: Any) -> dict[str, Any]:
        return _schedule_row(object_of(one, f"{what} row"), period)

    return Page(accepted_rows(raw, read, what, named_by("seccode")), len(raw), total)


def _schedule_row(row: dict[str, Any], period: str) -> dict[str, Any]:
    promised(row, ("seccode", "secname", _PERIOD, *_DATES.values()), f"schedule {period}")
    code = code_of(row["seccode"], f"schedule {period}")
    what = f"schedule {period} {code}"
    of_period = _day(row[_PERIOD], f"{what} {_PERIOD}")
    if of_period != period:
        raise PayloadError(f"{what}: a report of {of_period}")
    return {
        "code": code,
        "report_period": of_period,
        "name": plain_text(row["secname"] or "", f"{what} secname", 64) or None,
        **{name: _day(row[wire], f"{what} {wire}") for name, wire in _DATES.items()},
    }


def _day(value: Any, what: str) -> str | None:
    """An empty text is a day that is not there."""
    text = "" if value is None else string_of(value, what).strip()
    return None if is_no_day(text) else iso_day(text[:10], what)


HOLDER_COLUMNS: dict[str, str] = {
    **texts("code date"),
    **numbers("holder_num change_num change_ratio avg_shares"),
}
EQUITY_COLUMNS: dict[str, str] = {
    **texts("code change_date ann_date reason"),
    **numbers("total_shares float_shares restricted_shares"),
}
"""Shares; `float_shares` are the ordinary shares in CNY that may be traded."""
_WAN = 1e4
_SLACK = 0.001


def holders_request(period: str, now: datetime) -> Request:
    """All companies at a quarter end."""
    params = (("rdate", period.replace("-", "")),)
    label = params[0][1]
    return data_request("/api/sysapi/p_sysapi1034", "holder_counts", params, now, label=label)


def equity_request(code: str, since: str, until: str, now: datetime) -> Request:
    """One company, changes on the days of [since, until]."""
    params = (("scode", code), ("sdate", since), ("edate", until))
    label = f"{code} {since} {until}"
    return data_request("/api/stock/p_stock2215", "share_changes", params, now, label=label)


def parse_holders(body: bytes, period: str) -> pd.DataFrame:
    """Columns `HOLDER_COLUMNS`. PayloadError for another quarter, or when a change is not that of its
    counts."""
    what = f"holders {period}"

    def read(raw: Any) -> dict[str, Any]:
        return _holder(object_of(raw, f"{what} record"), period)

    rows = accepted_rows(records_of(body, what), read, what, named_by("SECCODE"))
    return once_each(frame(rows, HOLDER_COLUMNS), ["code"], what)


def _holder(row: dict[str, Any], period: str) -> dict[str, Any]:
    code = code_of(row.get("SECCODE"), f"holders {period}")
    what = f"holders {period} {code}"
    promised(row, ("ENDDATE", "F001N", "F002N", "F003N", "F004N"), what)
    day = day_of(row["ENDDATE"], f"{what} ENDDATE")
    if day != period:
        raise PayloadError(f"{what}: a count of {day}")
    count = required(amount(row["F001N"], f"{what} F001N"), f"{what} F001N")
    before = amount(row["F002N"], f"{what} F002N")
    ratio = number(row["F003N"], f"{what} F003N")
    if (
        before > 0
        and not math.isnan(ratio)
        and abs(ratio - (count / before - 1) * 100) > 0.02 + abs(ratio) / 100
    ):
        raise PayloadError(f"{what}: F003N {ratio} is not the change from {before:.0f} to {count:.0f}")
    return {
        "code": code,
        "date": day,
        "holder_num": count,
        "change_num": count - before,
        "change_ratio": ratio,
        "avg_shares": amount(row["F004N"], f"{what} F004N"),
    }


def parse_equity(body: bytes, code: str) -> pd.DataFrame:
    """Columns `EQUITY_COLUMNS`, the newest notice of a day alone. Rejected are changes of another company,
    and those whose parts are more than the whole."""
    what = f"equity {code}"
    found: dict[str, dict[str, Any]] = {}

    def read(raw: Any) -> dict[str, Any]:
        return _change(object_of(raw, f"{what} record"), code)

    for row in accepted_rows(records_of(body, what), read, what, named_by("VARYDATE")):
        known = found.get(row["change_date"])
        if known is None or (row["ann_date"] or "") >= (known["ann_date"] or ""):
            found[row["change_date"]] = row
    return frame([found[day] for day in sorted(found)], EQUITY_COLUMNS)


def _change(row: dict[str, Any], code: str) -> dict[str, Any]:
    what = f"equity {code}"
    own = code_of(row.get("SECCODE"), what)
    if own != code:
        raise PayloadError(f"{what}: a change of {own}")
    promised(row, ("VARYDATE", "F003N", "F022N"), what)
    total = required(amount(row["F003N"], f"{what} F003N", scale=_WAN), f"{what} F003N")
    floating = amount(row["F022N"], f"{what} F022N", scale=_WAN)
    if total <= 0 or floating > total * (1 + _SLACK):
        raise PayloadError(f"{what}: {floating:.0f} of {total:.0f} shares")
    announced, reason = row.get("DECLAREDATE"), row.get("F002V")
    return {
        "code": code,
        "change_date": day_of(row["VARYDATE"], f"{what} VARYDATE"),
        "ann_date": None if announced is None else day_of(announced, f"{what} DECLAREDATE"),
        "reason": None if reason is None else string_of(reason, f"{what} F002V").strip()[:255] or None,
        "total_shares": float(round(total)),
        "float_shares": math.nan if math.isnan(floating) else float(round(floating)),
    }
