"""The data service of the platform: the common form of its requests and answers.

A request bears its own time, encrypted with a key that the site's pages hold; without it, or with a time of
some minutes ago, the answer has another `resultcode`.
"""

import base64
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from core.errors import PayloadError
from resources.transport.request import Request
from resources.upstreams.parsing.payload import json_of, list_of, object_of

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


def records_of(body: bytes, what: str) -> list[dict[str, Any]]:
    """`records` of an answer; none where the service has none. PayloadError for a request that it turned
    away and for anything that is no answer of the service, so that a failure never counts as "no records"."""
    document = object_of(json_of(body), what)
    if document.get("resultcode") != 200:
        said = str(document.get("resultmsg"))[:60]
        raise PayloadError(f"{what}: resultcode {document.get('resultcode')!r} {said}")
    if "records" not in document:
        raise PayloadError(f"{what}: no field records")
    found = document["records"]
    rows = [] if found is None else list_of(found, f"{what} records")
    return [object_of(raw, f"{what} record") for raw in rows]
