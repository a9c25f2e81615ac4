"""Recorded bodies, as inflated by the client's framing."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from resources.upstreams.tdx.frames import RESPONSE, inflate, response_header

FOLDER = Path(__file__).parent / "payloads"


@cache
def document(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def sample(key: str) -> bytes:
    """Body of an entry of quotes_terminal_samples.json, taken out of its frame where it has one."""
    entry = document("quotes_terminal_samples.json")[key]
    raw = bytes.fromhex(entry["hex"])
    return framed(raw) if entry["kind"] == "frame" else raw


def framed(raw: bytes) -> bytes:
    header = response_header(raw[: RESPONSE.size])
    assert header is not None
    wire = raw[RESPONSE.size :]
    assert len(wire) == header.zip_len
    return inflate(header, wire)


def payload(name: str, key: str = "") -> bytes:
    if name.endswith(".hex"):
        return bytes.fromhex((FOLDER / name).read_text(encoding="utf-8").strip())
    return bytes.fromhex(document(name)[key])
