"""Files in the publisher's layouts, written by hand: they share no code with the readers."""

import io
import stat
import struct
import zipfile
from collections.abc import Iterable, Mapping

from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.primitives.ciphers import Cipher, modes

Bar = tuple[int, int, int, int, int, float, int, int]
"""date, open, high, low, close, amount, volume, reserved."""


def day_file(bars: Iterable[Bar]) -> bytes:
    return b"".join(struct.pack("<IIIIIfII", *bar) for bar in bars)


def flat_bars(price: int, mean: float, days: Iterable[int] = range(20240102, 20240106)) -> bytes:
    """Bars at one price as it is written, of 1,000 shares traded at `mean` CNY."""
    return day_file((day, price, price, price, price, mean * 1000, 1000, 65536) for day in days)


def event_file(rows: Iterable[tuple[int, str, int, int, float, float, float, float]]) -> bytes:
    """`gbbq` of (market, code, date, category, four numbers), block by block."""
    cipher = Cipher(Blowfish(b"770303770222"), modes.ECB())
    out = []
    for market, code, *rest in rows:
        clear = struct.pack("<B7sIBffff", market, code.encode(), *rest)
        for at in (0, 8, 16):
            words = struct.unpack("<2I", clear[at : at + 8])
            coded = cipher.encryptor().update(struct.pack(">2I", *words))
            out.append(struct.pack("<2I", *struct.unpack(">2I", coded)))
        out.append(clear[24:])
    return struct.pack("<I", len(out) // 4) + b"".join(out)


def report_file(period: int, rows: Mapping[str, Mapping[int, float]], columns: int = 584) -> bytes:
    """`.dat` of one period: code -> {number of the column, from 1: value}."""
    head = struct.pack("<hIHIII", 1, period, len(rows), 11 << 16, columns * 4, 0)
    first = len(head) + 11 * len(rows)
    index, body = b"", b""
    for code, cells in rows.items():
        index += struct.pack("<6s1sI", code.encode(), b"1", first + len(body))
        body += struct.pack(f"<{columns}f", *(cells.get(at, 0.0) for at in range(1, columns + 1)))
    return head + index + body


def date_members(
    day: str, bars: Mapping[str, tuple[float, float, float, float, float, int, float]]
) -> dict[str, bytes]:
    """The six members of a day package: symbol -> previous close, open, high, low, close, volume, amount. The
    bars are in another order than the codes, and one of them is nobody's."""
    out = {}
    for market in ("sh", "sz", "bj"):
        own = {symbol: bar for symbol, bar in bars.items() if symbol.startswith(market)}
        codes, blocks = b"", bytearray(512 * (len(own) + 1))
        for number, (symbol, (*prices, volume, amount)) in enumerate(own.items()):
            at = len(own) - number
            codes += symbol[2:].encode().ljust(32, b"\0") + struct.pack("<H", at) + bytes(116)
            struct.pack_into("<5d", blocks, 512 * at + 4, *prices)
            struct.pack_into("<Q", blocks, 512 * at + 56, volume)
            struct.pack_into("<d", blocks, 512 * at + 72, amount)
        out[f"{market}{day[2:].replace('-', '')}.cod"] = codes
        out[f"{market}{day[2:].replace('-', '')}.md1"] = bytes(blocks)
    return out


def zipped(members: Mapping[str, bytes], *, link: str = "") -> bytes:
    """A zip; the member `link` is a symbolic link. Names are stored as given, backslashes as well."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name)
            entry.filename, entry.compress_type = name, zipfile.ZIP_DEFLATED
            entry.external_attr = ((stat.S_IFLNK if name == link else stat.S_IFREG) | 0o644) << 16
            file.writestr(entry, content)
    return buffer.getvalue()
