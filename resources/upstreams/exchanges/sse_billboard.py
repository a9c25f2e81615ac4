"""Shanghai: the billboard of a date, a text of fixed layout (showTradePublicFile).

A section is a reason (`一、...:`, which may go on in a second line); below it a table of the listed
securities with shares and 万元, then a block for each with its largest buyers and sellers in 元. The buyers'
side does not show what a buyer sold. Sections without a block (too few sellers, foreign shares) are ordinary.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.errors import PayloadError
from core.market.securities import board_of
from resources.rejections import note
from resources.transport.request import Request
from resources.upstreams.exchanges import common
from resources.upstreams.parsing import payload
from resources.upstreams.parsing.frames import frame

WAN = 1e4
_MOST_LINES = 5_000
"""A busy day has some five hundred."""
_MOST_SEATS = 5
_DATE = re.compile(r"^交易日期[:：](\d{4})年(\d{2})月(\d{2})日$")
_SECTION = re.compile(r"^[零一二三四五六七八九十百]+、(.+)$")
_CLASS = re.compile(r"^\d+、")
_TABLE = re.compile(r"^证券代码\s+证券简称\s")
_ROW = re.compile(r"^\(\d+\)\s*(\d{6})\s+(\S.*)$")
_BLOCK = re.compile(r"^证券代码[:：]\s*(\d{6})\s+证券简称[:：]\s*(\S.*)$")
_SIDE = re.compile(r"^(买入|卖出)营业部名称[:：]")
_OTHER_SIDE = re.compile(r"^\S*会员名称[:：]")
_SEAT = re.compile(r"^\((\d+)\)\s*(\S.*?)\s+([\d,]+(?:\.\d+)?)$")
_SIDES = {"买入": "buy", "卖出": "sell"}


def billboard_request(day: str) -> Request:
    params = (("isPagination", "false"), ("dateTx", day))
    return Request("sse.query", "billboard", "/infodisplay/showTradePublicFile.do", params, label=day)


@dataclass
class _Page:
    """The text as far as it was read."""

    day: str
    listings: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    seats: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""
    unfinished: bool = False
    heads: tuple[str, ...] = ()
    code: str = ""
    side: str = ""
    dated: bool = False

    def read(self, line: str) -> None:
        """One line without the blanks around it."""
        if found := _DATE.match(line):
            common.same_day(
                payload.iso_day("".join(found.groups()), "SSE billboard date"), self.day, "SSE billboard"
            )
            self.dated = True
        elif found := _SECTION.match(line):
            self._open(found[1])
        elif found := _BLOCK.match(line):
            self._block(found[1], common.shown_name(found[2], "SSE billboard 证券简称"))
        elif found := _SIDE.match(line):
            self._turn(_SIDES[found[1]], line)
        elif _OTHER_SIDE.match(line):
            self.side = ""
        elif _TABLE.match(line):
            self._table(line)
        elif _CLASS.match(line):
            self.unfinished, self.heads = False, ()
        elif self.code and (found := _SEAT.match(line)):
            self._seat(int(found[1]), found[2], found[3])
        elif self.heads and (found := _ROW.match(line)):
            self._row(found[1], found[2])
        elif line.startswith("(") and not (self.code and not self.side):
            raise PayloadError(f"SSE billboard: neither a security nor a seat: {line[:60]!r}")
        elif self.unfinished:
            self.reason, self.unfinished = self.reason + line.rstrip(":："), not line.endswith((":", "："))

    def _open(self, text: str) -> None:
        self.reason, self.unfinished = text.rstrip(":：").strip(), not text.endswith((":", "："))
        self.heads, self.code, self.side = (), "", ""

    def _table(self, line: str) -> None:
        """The columns after code and name, from left to right."""
        self.unfinished, self.code, self.side = False, "", ""
        self.heads = tuple(line.split()[2:])
        if self.heads[-2:] != ("成交量", "成交金额(万元)"):
            raise PayloadError(f"SSE billboard: a table of {' '.join(self.heads)[:60]}")

    def _row(self, code: str, rest: str) -> None:
        what = f"SSE billboard {code}"
        parts = rest.rsplit(None, len(self.heads))
        if len(parts) != len(self.heads) + 1:
            raise PayloadError(f"{what}: {rest[:60]!r} for {' '.join(self.heads)[:60]}")
        traded = _figure(parts[-1], f"{what} 成交金额") * WAN
        common.in_one_unit(traded, _figure(parts[-2], f"{what} 成交量"), what)
        listing = self._listing(code, common.shown_name(parts[0], f"{what} 证券简称"))
        if "amount" in listing:
            note([(code, f"{what} appears twice under one reason")])
            return
        listing["amount"] = round(traded, 2)

    def _listing(self, code: str, name: str) -> dict[str, Any]:
        if not self.reason:
            raise PayloadError(f"SSE billboard {code} is listed for no reason")
        row = {"code": code, "date": self.day, "reason": self.reason, "name": name}
        return self.listings.setdefault((code, self.reason), row)

    def _block(self, code: str, name: str) -> None:
        self._listing(code, name)
        self.heads, self.code, self.side = (), code, ""

    def _turn(self, side: str, line: str) -> None:
        if not self.code or not line.endswith("(元):"):
            raise PayloadError(f"SSE billboard: seats without a security or in another unit: {line[:60]!r}")
        self.side = side

    def _seat(self, rank: int, name: str, text: str) -> None:
        if not self.side:
            return  # members that lent or borrowed: another kind of list
        what = f"SSE billboard {self.code} {self.side} {rank}"
        dealt = _figure(text, what)
        before = [one for one in self.seats if self._is_mine(one)]
        if rank != len(before) + 1 or rank > _MOST_SEATS:
            raise PayloadError(f"{what} follows {len(before)} others")
        bought, sold = (dealt, None) if self.side == "buy" else (None, dealt)
        self.seats.append(
            {
                "date": self.day,
                "code": self.code,
                "reason": self.reason,
                "side": self.side,
                "rank_no": float(rank),
                "branch_name": name.strip(),
                **_sums(bought, sold),
            }
        )

    def _is_mine(self, seat: dict[str, Any]) -> bool:
        mine = (self.code, self.reason, self.side)
        return (seat["code"], seat["reason"], seat["side"]) == mine


def _figure(text: str, what: str) -> float:
    return payload.required(payload.grouped_amount(text, what), what)


def _sums(bought: float | None, sold: float | None) -> dict[str, float]:
    """10k CNY; missing figures stay missing, and the net is of those that are there."""
    made = {"net_amt": round(((bought or 0.0) - (sold or 0.0)) / WAN, 2)}
    if bought is not None:
        made["buy_amt"] = round(bought / WAN, 2)
    if sold is not None:
        made["sell_amt"] = round(sold / WAN, 2)
    return made


def parse_billboard(body: bytes, day: str) -> common.Board:
    """The listings and seats of a date; empty on a day without trading or before publication. PayloadError
    for another day, and for a text that is not laid out as ever."""
    document = payload.object_of(payload.json_of(body), "SSE billboard")
    raw = payload.list_of(document.get("fileContents"), "SSE billboard fileContents")
    lines = [payload.string_of(one, "SSE billboard line") for one in raw]
    if len(lines) > _MOST_LINES:
        raise PayloadError(f"SSE billboard: {len(lines)} lines")
    filled = [line.strip() for line in lines if line.strip()]
    if not filled:
        return common.Board([], [])
    page = _Page(day)
    for line in filled:
        page.read(line)
    if not page.dated or not page.reason:
        raise PayloadError(f"SSE billboard {day}: a text without date or sections")
    listings = list(page.listings.values())
    for listing in listings:
        _add_sums(listing, [one for one in page.seats if _of(one, listing)])
    return common.Board(listings, _with_shares(page))


def _of(seat: dict[str, Any], listing: dict[str, Any]) -> bool:
    return bool(seat["code"] == listing["code"] and seat["reason"] == listing["reason"])


def _add_sums(listing: dict[str, Any], seats: list[dict[str, Any]]) -> None:
    """The sum of the seats of both sides; missing where none is shown."""
    if not seats:
        return
    bought = sum(one.get("buy_amt", 0.0) for one in seats)
    sold = sum(one.get("sell_amt", 0.0) for one in seats)
    listing |= {
        "net_buy": round(bought - sold, 2),
        "buy_amt": round(bought, 2),
        "sell_amt": round(sold, 2),
        "deal_amt": round(bought + sold, 2),
    }
    if turnover := listing.get("amount", 0.0):
        listing["net_ratio_pct"] = round(listing["net_buy"] * WAN / turnover * 100, 4)
        listing["deal_ratio_pct"] = round(listing["deal_amt"] * WAN / turnover * 100, 4)


def _with_shares(page: _Page) -> list[dict[str, Any]]:
    for seat in page.seats:
        turnover = page.listings[seat["code"], seat["reason"]].get("amount", 0.0)
        for side in ("buy", "sell"):
            if turnover and f"{side}_amt" in seat:
                seat[f"{side}_ratio_pct"] = round(seat[f"{side}_amt"] * WAN / turnover * 100, 4)
    return page.seats


def seats_frame(board: common.Board) -> pd.DataFrame:
    """Seats of A shares; columns `BILLBOARD_SEAT_COLUMNS`."""
    return frame([one for one in board.seats if board_of(one["code"], "SH")], common.BILLBOARD_SEAT_COLUMNS)
