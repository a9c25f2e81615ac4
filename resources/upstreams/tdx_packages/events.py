"""`gbbq`: every ex-right event and capital change of every security.

A count, then 29 bytes a record: market, code, date, category and four float32. The first 24 bytes are three
blocks of Blowfish, whose words are little-endian here. Public clients carry the cipher's expanded tables,
4,168 bytes; run backwards, the expansion gives the key of twelve digits that they were made of.
"""

import numpy as np
from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.primitives.ciphers import Cipher, modes

from resources.upstreams.tdx_packages.arrays import Arrays, damaged, days_of, finite, records

KEY = b"770303770222"
"""Blowfish key of the enciphered blocks."""
RECORD = np.dtype(
    [("market", "u1"), ("code", "S7"), ("date", "<u4"), ("category", "u1"),
     ("f1", "<f4"), ("f2", "<f4"), ("f3", "<f4"), ("f4", "<f4")]
)  # fmt: skip
_ENCIPHERED = 24
_COUNT_BYTES = 4
_MARKETS = ("sz", "sh", "bj")
_FIRST_EVENT = 19_800_101
"""Companies paid before there was an exchange: sz000001 is first in the records of 1990-03-01."""


def read_events(content: bytes) -> Arrays:
    """symbol (`sh600000`), date, category and the numbers f1 to f4, whose meaning the category decides, as
    the request for one security answers them. PayloadError for a file that is cut off or not enciphered
    so."""
    if len(content) < _COUNT_BYTES:
        raise damaged(f"gbbq: {len(content)} bytes hold no count")
    count = int.from_bytes(content[:_COUNT_BYTES], "little")
    body = content[_COUNT_BYTES:]
    if len(body) != count * RECORD.itemsize:
        raise damaged(f"gbbq: {len(body)} bytes, {count * RECORD.itemsize} of {count} records; it is cut off")
    raw = records(_deciphered(body, count), RECORD, "gbbq")
    fine = np.char.isalnum(raw["code"]) & (np.char.str_len(raw["code"]) == 6)
    strange = np.flatnonzero(~fine | (raw["market"] >= len(_MARKETS)))
    if len(strange):
        raise damaged(f"gbbq, record {int(strange[0]) + 1}: no code of a market; it is enciphered otherwise")
    prefixes, codes = np.array(_MARKETS)[raw["market"]], raw["code"].astype(str)
    return {
        "symbol": np.char.add(prefixes, codes),
        "date": days_of(raw["date"], "gbbq", first=_FIRST_EVENT),
        "category": raw["category"].astype(np.int32),
        **{name: finite(raw[name], "gbbq").astype(np.float32) for name in ("f1", "f2", "f3", "f4")},
    }


def _deciphered(body: bytes, count: int) -> bytes:
    """The records with their first three blocks in clear."""
    rows = np.frombuffer(body, dtype=np.uint8).reshape(count, RECORD.itemsize).copy()
    blocks = np.ascontiguousarray(rows[:, :_ENCIPHERED]).view("<u4").byteswap()
    # Format of the publisher's file, no secret of ours: the key is public with every reader of it.
    clear = Cipher(Blowfish(KEY), modes.ECB()).decryptor().update(blocks.tobytes())  # noqa: S305
    words = np.frombuffer(clear, dtype="<u4").byteswap()
    rows[:, :_ENCIPHERED] = words.view(np.uint8).reshape(count, _ENCIPHERED)
    return rows.tobytes()
