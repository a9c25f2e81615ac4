"""p_sysapi1087 of the data service: PE of industries on one date, by one of two classifications.

A request bears its own time, encrypted with a key that the site's pages hold; without it, or with a time of
some minutes ago, the answer has another `resultcode`. The twelve values of a record are told by their order.
"""

import base64
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from resources.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.frames import frame, numbers, texts
from resources.upstreams.payload import amount, iso_day, json_of, list_of, number, object_of, string_of

SCHEMES = {"csrc": "008001", "cni": "008200"}
RATIO_COLUMNS: dict[str, str] = {
    **texts("industry_code date industry_name level"),
    **numbers("pe_mean pe_median pe_weighted net_profit_yi total_market_cap_yi member_count"),
}
"""100 million CNY."""
_KEY = b"1234567887654321"
_EPOCH = datetime(1970, 1, 1)
_SHANGHAI = timedelta(hours=8)
_VALUES = 12


def time_header(now: datetime) -> str:
    """Base64 of AES-128-CBC of the Unix seconds of a moment in Shanghai."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.padding import PKCS7

    seconds = str(int((now - _SHANGHAI - _EPOCH).total_seconds())).encode()
    padder = PKCS7(128).padder()
    padded = padder.update(seconds) + padder.finalize()
    # The site's own cipher: it hides nothing, and keeps out who does not know it.
    encryptor = Cipher(algorithms.AES(_KEY), modes.CBC(_KEY)).encryptor()
    return base64.b64encode(encryptor.update(padded) + encryptor.finalize()).decode()


def ratios_request(scheme: str, day: str, now: datetime) -> Request:
    """`scheme` is csrc or cni."""
    return Request(
        "cninfo.data",
        "industry_ratios",
        "/api/sysapi/p_sysapi1087",
        (("tdate", day), ("sortcode", SCHEMES[scheme])),
        label=f"{scheme} {day}",
        method="POST",
        headers=(("Accept-Enckey", time_header(now)), ("X-Requested-With", "XMLHttpRequest")),
    )


def parse_ratios(body: bytes, day: str) -> pd.DataFrame:
    """Columns `RATIO_COLUMNS`; empty on a date without figures. PayloadError for another date."""
    what = f"industries {day}"
    document = object_of(json_of(body), what)
    if document.get("resultcode") != 200:
        said = str(document.get("resultmsg"))[:60]
        raise PayloadError(f"{what}: resultcode {document.get('resultcode')!r} {said}")
    made = [_row(raw, day, what) for raw in list_of(document.get("records") or [], f"{what} records")]
    rows = frame(made, RATIO_COLUMNS)
    if rows["industry_code"].duplicated().any():
        raise PayloadError(f"{what}: an industry stands in it twice")
    return rows


def _row(raw: Any, day: str, what: str) -> dict[str, Any]:
    values = list(object_of(raw, f"{what} record").values())
    if len(values) != _VALUES:
        raise PayloadError(f"{what}: a record of {len(values)} values")
    level, mean, median, weighted, profit, name, code, _, cap, _, date, companies = values
    told = iso_day(string_of(date, f"{what} date")[:10], f"{what} date")
    if told != day:
        raise PayloadError(f"{what}: figures of {told}")
    code = string_of(code, f"{what} code").strip()
    if not 0 < len(code) <= 16 or not code.isascii() or not code.isalnum():
        raise PayloadError(f"{what}: {code[:20]!r} is no industry")
    title = string_of(name, f"{what} {code} name").strip()
    if not 0 < len(title) <= 64:
        raise PayloadError(f"{what} {code}: a name of {len(title)} characters")
    return {
        "industry_code": code,
        "date": told,
        "industry_name": title,
        "level": str(level)[:4] if level is not None else None,
        "pe_mean": number(mean, f"{what} {code} mean"),
        "pe_median": number(median, f"{what} {code} median"),
        "pe_weighted": number(weighted, f"{what} {code} weighted"),
        "net_profit_yi": number(profit, f"{what} {code} net profit"),
        "total_market_cap_yi": amount(cap, f"{what} {code} cap"),
        "member_count": amount(companies, f"{what} {code} companies"),
    }
