"""`python -m tests.console.record http://127.0.0.1:8000 600040`: records what the console's pages read of a
running platform, for the tests (`answers.json.gz`). Needed after a change of a shape that a page reads."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import httpx

ANSWERS = Path(__file__).with_name("answers.json.gz")
READS = (
    "stocks/{code}",
    "stocks/{code}/base-info",
    "stocks/{code}/kline?days=250&adjust=qfq",
    "stocks/{code}/finance-detail",
    "stocks/{code}/industry-compare",
    "quant/indicators/{code}?days=250",
    "quant/patterns/{code}?days=250",
    "quant/cyq/{code}",
    "factor/breakdown/{code}",
)
CALLS = {
    "get_dividend_history": 30,
    "get_announcements": 30,
    "get_dragon_tiger_history": 30,
    "get_fund_flow_history": 60,
}


def recorded(base: str, code: str) -> dict[str, Any]:
    """Path below /api/v1 (with CODE for the code), or name of an interface -> answer."""
    with httpx.Client(base_url=f"{base}/api/v1/", timeout=60.0) as client:
        found = {
            path.partition("?")[0]: client.get(path.format(code=code)).raise_for_status().json()
            for path in READS
        }
        for name, limit in CALLS.items():
            body = {"interface": name, "params": {"code": code, "limit": limit}}
            found[name] = client.post("datamgr/fusion/call", json=body).raise_for_status().json()
    return found


def answers() -> dict[str, Any]:
    """What was recorded."""
    found: dict[str, Any] = json.loads(gzip.decompress(ANSWERS.read_bytes()))
    return found


if __name__ == "__main__":
    text = json.dumps(recorded(*sys.argv[1:3]), ensure_ascii=False)
    ANSWERS.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
