"""The stored tables against the files, with no arithmetic of the product's."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from resources.warehouse.warehouse import Warehouse
from tests.real_day.findings import Section, shortened, wrapped
from tests.real_day.names import Spans, compare_names, stored_names
from tests.real_day.truth import BIG_CUT, PRICES, IndexRow, Key, Row, Truth
from tests.real_day.wire import PRECISION, Precision, float32_step, is_level, is_star, same_amount

_BARS = (
    "code date market open high low close last_close volume amount change_pct limit_up limit_down "
    "limit_status is_suspended adj_factor src provenance quality quality_flags"
).split()
_UP_TO_FACTOR = 1e-9
_STORED_DECIMALS = 4
"""Of a stored change in percent."""


@dataclass(frozen=True)
class Stored:
    """The stored rows by (symbol, date), and the patterns of their sources."""

    bars: dict[Key, dict[str, Any]]
    indices: dict[Key, dict[str, Any]]
    quotes: dict[str, dict[str, Any]]
    events: dict[Key, dict[str, Any]]
    names: Spans
    patterns: dict[int, Mapping[str, list[str]]]
    today: str

    def wire(self, row: Mapping[str, Any], column: str) -> tuple[str, str]:
        """(upstream, call) that served one value: the pattern's source, or the row's."""
        source = str(row["src"])
        pattern = self.patterns.get(row["provenance"]) if row["provenance"] is not None else None
        for name, columns in (pattern or {}).items():
            if column in columns:
                source = name
        return source, "quotes" if str(row["date"])[:10] == self.today else "bars"


def read_stored(warehouse: Warehouse, truth: Truth, today: str) -> Stored:
    """Every table that is compared, in the dates of the files' window."""
    since, until = truth.dates[0], truth.dates[-1]
    bars = _rows(warehouse, "fusion_kline_daily", _BARS, "WHERE date BETWEEN ? AND ?", (since, until))
    indices = _rows(
        warehouse,
        "fusion_index_daily",
        ("code", "date", *PRICES, "last_close", "volume", "amount", "src", "provenance"),
        "WHERE date BETWEEN ? AND ?",
        (since, until),
    )
    quotes = _rows(
        warehouse,
        "fusion_quote_snapshot",
        ("code", "trade_date", "price", "last_close", "limit_up", "limit_down", "limit_status"),
        "WHERE trade_date=?",
        (until,),
    )
    events = _rows(warehouse, "ref_exright", ("code", "date", "category", "cash_per10", "factor"), "", ())
    symbol_of = {row["code"]: str(row["market"]).lower() + str(row["code"]) for row in bars}
    patterns = warehouse.query("SELECT id, pattern FROM sys_provenance")
    return Stored(
        bars={(symbol_of[row["code"]], _day(row["date"])): row for row in bars},
        indices={(str(row["code"]), _day(row["date"])): row for row in indices},
        quotes={symbol_of.get(row["code"], str(row["code"])): row for row in quotes},
        events={
            (symbol_of.get(row["code"], str(row["code"])), _day(row["date"])): row
            for row in events
            if row["category"] == 1
        },
        names=stored_names(warehouse, symbol_of),
        patterns={int(number): json.loads(text) for number, text in patterns},
        today=today,
    )


def _rows(
    warehouse: Warehouse, table: str, columns: Iterable[str], where: str, values: tuple[Any, ...]
) -> list[dict[str, Any]]:
    names = list(columns)
    found = warehouse.query(f"SELECT {', '.join(names)} FROM {table} {where}", values)
    return [dict(zip(names, row, strict=True)) for row in found]


def _day(value: Any) -> str:
    return str(value)[:10]


def _exact(stored: Any, expected: Decimal) -> bool:
    """Prices lose nothing: the double nearest to the file's decimal."""
    return stored is not None and float(stored) == float(expected)


def _label(row: Row | IndexRow) -> str:
    return f"{row.symbol} {row.date}"


# -- the bars ---------------------------------------------------------------------------------------


def compare_rows(truth: Truth, stored: Stored, section: Section) -> list[tuple[Row, dict[str, Any]]]:
    """Which rows there are; the pairs that every other comparison works on."""
    missing = [
        f"{symbol} {day} is not stored" for symbol, day in sorted(truth.rows.keys() - stored.bars.keys())
    ]
    surplus = [
        f"{symbol} {day} is not in the files"
        for symbol, day in sorted(stored.bars.keys() - truth.rows.keys())
    ]
    section.add("dates in the window", f"{len(truth.dates)}: {truth.dates[0]}..{truth.dates[-1]}")
    section.add("codes in the window", f"{len(truth.symbols)}")
    section.equal("daily bars, one per row of the files", len(truth.rows), [*missing, *surplus], needed=True)
    return [(row, stored.bars[key]) for key, row in truth.rows.items() if key in stored.bars]


def compare_prices(pairs: list[tuple[Row, dict[str, Any]]], section: Section, decimals: int = 6) -> None:
    """`decimals`: of the file's changes in percent; what a figure of two decimals leaves open is no error."""
    wrong = [
        f"{_label(row)} {name}: stored {bar[name]}, file {row.prices[name]}"
        for row, bar in pairs
        for name in PRICES
        if not _exact(bar[name], row.prices[name])
    ]
    section.equal("prices (open, high, low, close)", len(pairs) * len(PRICES), wrong, needed=True)
    wrong = [
        f"{_label(row)}: stored {bar['last_close']}, file {row.preclose}"
        for row, bar in pairs
        if not _exact(bar["last_close"], row.preclose)
    ]
    section.equal("reference prices (last_close = preclose)", len(pairs), wrong, needed=True)
    changes = [(row, bar) for row, bar in pairs if row.traded and row.preclose]
    stored_step, file_step = 0.51 * 10**-_STORED_DECIMALS, max(1e-4, 0.51 * 10**-decimals)
    wrong = []
    for row, bar in changes:
        own = (float(row.prices["close"]) / float(row.preclose) - 1) * 100
        if bar["change_pct"] is None or abs(bar["change_pct"] - own) > stored_step:
            wrong.append(f"{_label(row)}: stored {bar['change_pct']}, own {own:.6f}")
        elif row.change_pct is not None and abs(own - row.change_pct) > file_step:
            wrong.append(f"{_label(row)}: file {row.change_pct}, own {own:.6f}")
    given = sum(row.change_pct is not None for row, _ in changes)
    reported = f"{given:,} of them, and the file's of {decimals} decimals" if given else "none in the file"
    section.equal("change in percent (against preclose, and pctChg)", len(changes), wrong, reported)


def compare_traded(pairs: list[tuple[Row, dict[str, Any]]], stored: Stored, section: Section) -> None:
    """Volumes and amounts after exactly the rounding of the wire that served each of them."""
    for column in ("volume", "amount"):
        wrong: list[str] = []
        rounded = expect_rounding = 0
        served: Counter[tuple[str, str]] = Counter()
        for row, bar in pairs:
            wire = stored.wire(bar, column)
            served[wire] += 1
            expected, true = _expected(PRECISION[wire], row, column), float(getattr(row, column))
            value = float(bar[column] or 0)
            if not same_amount(value, expected):
                wrong.append(f"{_label(row)}: stored {value}, {wire[0]} {wire[1]} of {true} is {expected}")
            rounded += value != true
            expect_rounding += not same_amount(expected, true)
        section.equal(
            f"{column}s after the rounding of their wire",
            len(pairs),
            wrong,
            f"{rounded:,} ({rounded / max(len(pairs), 1):.1%}) differ from the file to the unit",
            needed=True,
        )
        section.findings[-1].detail += [
            f"{count:,} from {source} {call}: {PRECISION[source, call].says}"
            for (source, call), count in served.most_common()
        ]
        if expect_rounding and not rounded:
            section.add(f"{column}s carry the rounding", "none does: the parser was bypassed", False)


def _expected(precision: Precision, row: Row | IndexRow, column: str) -> float:
    if column == "amount":
        return precision.amount(row.amount)
    return precision.volume(row.volume, row.symbol)


def impossible(truth: Truth, stored: Stored) -> list[str]:
    """Stored bars that no wire at all could have made of the files: another price, unit or instrument."""
    wrong: list[str] = []
    for row, bar in ((truth.rows[key], bar) for key, bar in stored.bars.items() if key in truth.rows):
        prices = {**row.prices, "last_close": row.preclose}
        bad = [name for name, value in prices.items() if not _exact(bar[name], value)]
        bad += [
            column
            for column in ("volume", "amount")
            if not any(
                same_amount(float(bar[column] or 0), _expected(precision, row, column))
                for precision in PRECISION.values()
            )
        ]
        wrong += [f"{_label(row)} {name}: stored {bar[name]}" for name in bad]
    return wrong


def compare_finer(truth: Truth, stored: Stored, section: Section) -> None:
    """Two sources carry the last day's amounts and volumes: what is stored is the one nearer to the truth."""
    wrong: list[str] = []
    finer = {"amount": 0, "volume": 0}
    compared = 0
    for row in truth.rows.values():
        bar = stored.bars.get((row.symbol, row.date))
        if row.date != stored.today or bar is None or not row.traded:
            continue
        compared += 2
        coarse_step = float32_step(row.amount) / 2
        own = PRECISION["tdx" if coarse_step <= 0.5 else "tencent", "quotes"].amount(row.amount)
        other = PRECISION["tencent" if coarse_step <= 0.5 else "tdx", "quotes"].amount(row.amount)
        if not same_amount(bar["amount"], own):
            wrong.append(f"{_label(row)} amount: stored {bar['amount']}, the finer one is {own}")
        finer["amount"] += own != other
        shares = (
            row.volume if is_star(row.symbol) else PRECISION["tdx", "quotes"].volume(row.volume, row.symbol)
        )
        if float(bar["volume"]) != shares:
            wrong.append(f"{_label(row)} volume: stored {bar['volume']}, the finer one is {shares}")
        finer["volume"] += is_star(row.symbol) and row.volume % 100 != 0
    section.equal(
        f"the finer of two sources wins ({stored.today})",
        compared,
        wrong,
        f"made a difference for {finer['amount']} amounts, {finer['volume']} volumes",
    )


# -- limits, events, states --------------------------------------------------------------------------


def compare_limits(pairs: list[tuple[Row, dict[str, Any]]], section: Section, first: str) -> None:
    """`first`: the first date of the window; a re-listing right after it cannot be known, and is marked."""
    wrong_prices: list[str] = []
    wrong_flags: list[str] = []
    flags: Counter[str] = Counter()
    free: list[str] = []
    unknown = [(row, bar) for row, bar in pairs if row.known_from and row.known_from < first]
    for row, bar in (pair for pair in pairs if pair not in unknown):
        expected = (None, None) if row.band is None else (row.band.up / 100, row.band.down / 100)
        if (bar["limit_up"], bar["limit_down"]) != expected:
            wrong_prices.append(
                f"{_label(row)}: stored {bar['limit_up']}/{bar['limit_down']}, rules {expected}"
            )
        if bar["limit_status"] != row.state:
            wrong_flags.append(f"{_label(row)}: stored {bar['limit_status']}, rules {row.state}")
        flags[row.state] += 1
        if row.band is None:
            free.append(f"{_label(row)}: close {row.prices['close']}, preclose {row.preclose}")
    section.equal("limit prices (preclose, isST, dated rules)", len(pairs), wrong_prices, needed=True)
    counts = ", ".join(f"{name} {flags[name]}" for name in ("up", "down", "up_open", "down_open"))
    section.equal("limit-up and limit-down flags", len(pairs), wrong_flags, counts)
    if unknown:
        marked = [_label(row) for row, bar in unknown if bar["quality"] == "warning"]
        name = "re-listings within 60 sessions of the window's begin: limits as of any day, marked"
        section.add(name, f"{len(marked)} of {len(unknown)}", len(marked) == len(unknown), marked)
    section.add("rows without limits (listing)", f"{len(free)}", detail=shortened(free, 20))


def compare_events(truth: Truth, stored: Stored, section: Section) -> None:
    """Ex-right days: the events stored for the window are those that the files' precloses show."""
    days = truth.where("is_ex_day")
    expected = {(row.symbol, row.date): row for row in days}
    held = {
        key: event
        for key, event in stored.events.items()
        if truth.dates[0] <= key[1] <= truth.dates[-1] and key in truth.rows
    }
    wrong = [
        f"{symbol} {day}: no such event in the files" for symbol, day in sorted(held.keys() - expected.keys())
    ]
    for key, row in expected.items():
        event = held.get(key)
        factor = float(row.before or 0) / float(row.preclose)
        if event is None:
            wrong.append(f"{_label(row)}: {row.before} -> {row.preclose} is not stored")
        elif not math.isclose(event["factor"] or 0, factor, rel_tol=_UP_TO_FACTOR):
            wrong.append(f"{_label(row)}: factor {event['factor']}, last close / preclose {factor}")
    section.equal("ex-right days", len(days), wrong)
    big = [row for row in days if row.cut > BIG_CUT]
    section.add(
        "of them cut the price by more than 15 %",
        f"{len(big)}",
        detail=wrapped(f"{_label(row)} -{row.cut:.1%}" for row in big),
    )


def compare_states(truth: Truth, stored: Stored, section: Section) -> None:
    suspended = [row for row in truth.rows.values() if not row.traded]
    kept = [row for row in suspended if (stored.bars.get((row.symbol, row.date)) or {}).get("is_suspended")]
    others = sum(bool(bar["is_suspended"]) for bar in stored.bars.values()) - len(kept)
    section.equal(
        "suspended rows",
        len(suspended),
        [_label(row) for row in suspended if row not in kept] + ["a traded row is marked suspended"] * others,
    )
    section.findings[-1].detail += wrapped(_spans(suspended))
    special = truth.where("st")
    wrong = []
    for row in special:
        bar = stored.bars.get((row.symbol, row.date))
        if bar is None or (bar["limit_up"], bar["limit_down"]) != (
            (None, None) if row.band is None else (row.band.up / 100, row.band.down / 100)
        ):
            wrong.append(_label(row))
    section.equal("rows under special treatment, limits of their date", len(special), wrong)
    section.findings[-1].detail += wrapped(_spans(special))


def _spans(rows: Iterable[Row]) -> list[str]:
    """`symbol first..last (n)` per symbol."""
    by_symbol: dict[str, list[str]] = {}
    for row in rows:
        by_symbol.setdefault(row.symbol, []).append(row.date)
    return [
        f"{symbol} {min(days)}" if len(days) == 1 else f"{symbol} {min(days)}..{max(days)} ({len(days)})"
        for symbol, days in sorted(by_symbol.items())
    ]


def compare_factors(pairs: list[tuple[Row, dict[str, Any]]], section: Section) -> None:
    wrong = [
        f"{_label(row)}: stored {bar['adj_factor']}, product {row.factor}"
        for row, bar in pairs
        if not math.isclose(bar["adj_factor"] or 0, row.factor, rel_tol=_UP_TO_FACTOR)
    ]
    moved = len({row.symbol for row, _ in pairs if row.factor != 1.0})
    section.equal(
        "stored factor = product of last close / preclose", len(pairs), wrong, f"{moved} codes have events"
    )


# -- other tables ------------------------------------------------------------------------------------


def compare_quotes(truth: Truth, stored: Stored, section: Section) -> None:
    wrong: list[str] = []
    rows = [row for row in truth.rows.values() if row.date == stored.today]
    for row in rows:
        quote = stored.quotes.get(row.symbol)
        if quote is None:
            wrong.append(f"{_label(row)}: no closing quote")
        elif not (_exact(quote["price"], row.prices["close"]) and _exact(quote["last_close"], row.preclose)):
            wrong.append(f"{_label(row)}: quoted {quote['price']} after {quote['last_close']}")
        elif quote["limit_status"] != (None if row.state == "no_limit" else row.state):
            # A quote without limits does not say why it has none.
            wrong.append(f"{_label(row)}: {quote['limit_status']}, rules {row.state}")
    section.equal(f"closing quotes ({stored.today}): price, last close, flag", len(rows), wrong, needed=True)


def compare_indices(truth: Truth, stored: Stored, section: Section) -> None:
    wrong: list[str] = []
    compared = 0
    for key, row in truth.indices.items():
        bar = stored.indices.get(key)
        if bar is None:
            wrong.append(f"{_label(row)}: no bar")
            compared += 1
            continue
        wire = stored.wire(bar, "amount")
        prices = {**row.prices, "last_close": row.before}
        compared += len(prices) + 2
        wrong += [
            f"{_label(row)} {name}: stored {bar[name]}, file {value}"
            for name, value in prices.items()
            if not is_level(bar[name], value, PRECISION[wire].decimals)
        ]
        wrong += [
            f"{_label(row)} {column}: stored {bar[column]}, {wire} of {getattr(row, column)}"
            for column in ("volume", "amount")
            if not same_amount(float(bar[column] or 0), _expected(PRECISION[wire], row, column))
        ]
    names = len({symbol for symbol, _ in truth.indices})
    section.equal(f"index bars ({names} indices), every value", compared, wrong)


def compare_whole_set(truth: Truth, section: Section) -> None:
    """How much of the files no 24-bit number can hold: what a bypassed parser would show."""
    section.notes.append(
        f"of {truth.stocks_read:,} rows in the files "
        f"{truth.volumes_beyond_float32 / truth.stocks_read:.0%} of volumes and "
        f"{truth.amounts_beyond_float32 / truth.stocks_read:.0%} of amounts do not fit 24 bits"
    )


def compare_all(warehouse: Warehouse, truth: Truth, today: str) -> Section:
    """Every comparison of the loaded window."""
    return compare_stored(read_stored(warehouse, truth, today), truth)


def compare_stored(stored: Stored, truth: Truth) -> Section:
    """The same of rows that were read."""
    section = Section("comparison with the files")
    compare_whole_set(truth, section)
    pairs = compare_rows(truth, stored, section)
    compare_prices(pairs, section, truth.change_decimals)
    compare_traded(pairs, stored, section)
    compare_finer(truth, stored, section)
    compare_limits(pairs, section, truth.dates[0])
    compare_events(truth, stored, section)
    compare_states(truth, stored, section)
    compare_names(truth, stored.names, section)
    compare_factors(pairs, section)
    compare_quotes(truth, stored, section)
    compare_indices(truth, stored, section)
    return section
