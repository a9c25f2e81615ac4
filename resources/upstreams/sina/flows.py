"""MoneyFlow.ssl_qsfx_lscjfb: money flow of one stock by trade date, newest first, in GB 18030.

`r0` to `r3` are orders from the largest to the smallest; `netamount` is the sum of the four nets, which do
not cancel at this site. The sibling `ssl_qsfx_zjlrqs` has only the net of the largest orders.
"""

import math
from typing import Any

import pandas as pd

from core.errors import InputError, PayloadError
from core.market.symbols import instrument
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.frames import frame, numbers, texts

FLOW_COLUMNS: dict[str, str] = {
    **texts("code date"),
    **numbers("close main_net super_net large_net medium_net small_net"),
}
"""CNY."""
MOST_DAYS = 120
_NETS = {"super_net": "r0_net", "large_net": "r1_net", "medium_net": "r2_net", "small_net": "r3_net"}
_SLACK = 1.0


def flow_request(symbol: str, days: int) -> Request:
    """The newest `days` trade dates of a stock. Raises InputError."""
    if not 1 <= days <= MOST_DAYS:
        raise InputError("days", f"{days} is not within 1..{MOST_DAYS}")
    params = (("page", "1"), ("num", str(days)), ("sort", "opendate"), ("asc", "0"),
              ("daima", instrument(symbol).symbol))  # fmt: skip
    path = "/quotes_service/api/json_v2.php/MoneyFlow.ssl_qsfx_lscjfb"
    return Request("sina.flows", "fund_flow", path, params, label=symbol)


def parse_flow(body: bytes, symbol: str) -> pd.DataFrame:
    """Columns `FLOW_COLUMNS`, oldest first; no row for a symbol that the site does not know. A day whose four
    nets do not add up to the stated sum is left out as rejected."""
    if payload.present(body) == b"null":
        return frame([], FLOW_COLUMNS)
    document = payload.json_of(payload.text_of(body, "gb18030").encode())
    if isinstance(document, dict):
        raise PayloadError(f"{symbol} money flow: {str(document)[:80]}")
    code = instrument(symbol).dataset_code
    what = f"{symbol} money flow"

    def read(raw: Any) -> dict[str, Any]:
        return _row(payload.object_of(raw, what), code, symbol)

    rows = accepted_rows(payload.list_of(document, what), read, what, named_by("opendate"))
    made = once_each(frame(rows, FLOW_COLUMNS), ["date"], what)
    return made.sort_values("date", ignore_index=True)


def _row(item: dict[str, Any], code: str, symbol: str) -> dict[str, Any]:
    day = payload.iso_day(payload.string_of(item.get("opendate"), f"{symbol} opendate"), f"{symbol} opendate")
    what = f"{symbol} {day}"
    nets = {
        name: payload.required(payload.number(item.get(wire), f"{what} {wire}", digits=2), f"{what} {wire}")
        for name, wire in _NETS.items()
    }
    stated = payload.number(item.get("netamount"), f"{what} netamount", digits=2)
    if not math.isnan(stated) and abs(stated - sum(nets.values())) > _SLACK:
        raise PayloadError(f"{what}: netamount {stated} is not the sum of r0_net to r3_net")
    return {
        "code": code,
        "date": day,
        "close": payload.price(item.get("trade"), f"{what} trade"),
        "main_net": round(nets["super_net"] + nets["large_net"], 2),
        **nets,
    }
