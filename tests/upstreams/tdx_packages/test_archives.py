"""Zips from outside are read within limits, or refused with the member that breaks them."""

import io
import struct
import zipfile

import pytest

from core.errors import PayloadError
from resources.upstreams.tdx_packages import archives
from tests.upstreams.tdx_packages.written import zipped

BAR = bytes(32) * 100


def names(content: bytes) -> tuple[str, ...]:
    with archives.opened(io.BytesIO(content), "hsjday.zip") as archive:
        return archive.names


def contents(content: bytes) -> dict[str, bytes]:
    with archives.opened(io.BytesIO(content), "hsjday.zip") as archive:
        return {name: archive.read(name) for name in archive.names}


def test_backslashes_are_folders() -> None:
    members = {"sh\\lday\\sh600000.day": BAR, "sz\\lday\\sz000001.day": BAR[:64]}
    assert contents(zipped(members)) == {"sh/lday/sh600000.day": BAR, "sz/lday/sz000001.day": BAR[:64]}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../sh600000.day", "named"),
        ("sh\\..\\..\\sh600000.day", "named"),
        ("/etc/sh600000.day", "named"),
        ("C:\\sh600000.day", "named"),
        ("\\\\host\\sh600000.day", "named"),
    ],
)
def test_names_that_leave_the_folder_are_refused(name: str, why: str) -> None:
    with pytest.raises(PayloadError, match=f"hsjday.zip: a member {why}"):
        names(zipped({name: BAR}))


def test_a_link_is_refused() -> None:
    with pytest.raises(PayloadError, match=r"sh600000\.day: is a link"):
        names(zipped({"sh600000.day": b"/etc/passwd"}, link="sh600000.day"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_is_refused() -> None:
    with pytest.raises(PayloadError, match="is there twice"):
        names(zipped({"sh/lday/sh600000.day": BAR, "sh\\lday\\SH600000.day": BAR[:32]}))


def test_a_truncated_zip_is_refused() -> None:
    whole = zipped({"sh600000.day": BAR})
    with pytest.raises(PayloadError, match="cannot be read as a zip"):
        names(whole[: len(whole) // 2])
    with pytest.raises(PayloadError, match="cannot be read as a zip"):
        names(b"<html><script>location.reload()</script></html>")


def test_damaged_bytes_of_a_member_are_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        file.writestr("sh600000.day", BAR)
    content = bytearray(buffer.getvalue())
    content[60] ^= 1
    with pytest.raises(PayloadError, match=r"sh600000\.day"):
        contents(bytes(content))


def test_a_bomb_is_refused_by_its_head_and_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped({"sh600000.day": bytes(1 << 22)})
    assert len(bomb) < 1 << 14
    monkeypatch.setattr(archives, "MOST_MEMBER_BYTES", 1 << 20)
    with pytest.raises(PayloadError, match="4194304 bytes, 1048576 at most"):
        names(bomb)
    # A head that lies about the size: no more than that is unpacked, and it is not the file.
    small = struct.pack("<I", 1 << 10)
    lying = bomb.replace(struct.pack("<I", 1 << 22), small)
    with pytest.raises(PayloadError, match=r"sh600000\.day"):
        contents(lying)


def test_the_limits_of_all_members(monkeypatch: pytest.MonkeyPatch) -> None:
    content = zipped({f"sh60000{at}.day": BAR for at in range(4)})
    monkeypatch.setattr(archives, "MOST_BYTES", 3 * len(BAR))
    with pytest.raises(PayloadError, match="bytes unpacked"):
        names(content)
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    with pytest.raises(PayloadError, match="4 members, 3 at most"):
        names(content)
