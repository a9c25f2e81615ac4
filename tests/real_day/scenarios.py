"""Scenarios of a loaded day: asked twice, corrected upstream, or reported wrongly. Each returns findings.

Faults are acted out by the responders, so that what arrives is a wrong answer on the wire.
"""

import json
from typing import Any

from resources.warehouse.stored import ANY
from tests.real_day.companies import Companies
from tests.real_day.compare import impossible, read_stored
from tests.real_day.findings import Section, shortened
from tests.real_day.rules import board_of
from tests.real_day.services import RealDay, Run
from tests.real_day.truth import Truth

_LAYERS = ("raw_", "stg_", "fusion_", "ref_")


def _rows_held(day: RealDay) -> dict[str, int]:
    """Rows of every table that comes from an upstream; the calendar is shipped."""
    return {
        name: int(day.warehouse.query(f"SELECT COUNT(*) FROM {name}")[0][0])
        for name in day.warehouse.tables
        if name.startswith(_LAYERS) and name != "ref_trade_calendar"
    }


def _first_days(day: RealDay) -> tuple[str, str]:
    """The window's first three dates: enough for a fault of the bars."""
    return day.window.since, day.window.dates[min(2, len(day.window.dates) - 2)]


def _totals(day: RealDay, run: Run, table: str = "%") -> dict[str, int]:
    """What the run's batches did to the tables of this name."""
    rows = day.warehouse.query(
        "SELECT COUNT(*), SUM(rows_written), SUM(rows_superseded), SUM(rows_unchanged), SUM(rows_rejected) "
        "FROM sys_batch "
        "WHERE run_id=? AND table_name LIKE ? AND parent_batch_id IS NULL AND status='success'",
        (run.run_id, table),
    )
    names = ("batches", "written", "superseded", "unchanged", "rejected")
    return {name: int(value or 0) for name, value in zip(names, rows[0], strict=True)}


def _revised(day: RealDay, run: Run) -> list[str]:
    """Tables of which rows were revised and must not have been: any when the run was refused, those of prices
    when it went on without a row (what counts the market then counts one stock less)."""
    tables = ("%",) if not run.fine else ("fusion_kline%", "fusion_quote%", "fusion_index%")
    found = [
        row for table in tables for row in day.warehouse.query(
            "SELECT table_name, SUM(rows_superseded) FROM sys_batch WHERE run_id=? AND table_name LIKE ? "
            "AND rows_superseded>0 GROUP BY 1 ORDER BY 1",
            (run.run_id, table),
        )
    ]  # fmt: skip
    return [f"{name}: {int(count)} rows revised" for name, count in found]


def _asked(day: RealDay, run: Run) -> int:
    """Responses that this run received."""
    return int(day.warehouse.query("SELECT COUNT(*) FROM sys_fetch WHERE run_id=?", (run.run_id,))[0][0])


def _complaints(day: RealDay, run: Run) -> list[str]:
    """What the run's batches refused, and why: contract records, and reasons for taking another source."""
    found = day.warehouse.query(
        "SELECT DISTINCT q.table_name, q.natural_key, q.message FROM sys_quality_record q JOIN sys_batch b "
        "ON b.batch_id=q.batch_id WHERE b.run_id=? AND q.severity='contract' ORDER BY 1, 2",
        (run.run_id,),
    )
    passed = day.warehouse.query(
        "SELECT table_name, sources_json FROM sys_batch WHERE run_id=? AND sources_json LIKE '%\"error\"%'",
        (run.run_id,),
    )
    reasons = {
        f"{table}: {source['src']}: {source['reason']}"
        for table, sources in passed
        for source in json.loads(sources)
        if source.get("error")
    }
    single = {f"{table}: {_answer(key)}{message}" for table, key, message in found}
    return sorted(single | reasons)


def _answer(key: str | None) -> str:
    """`sz000001: ` where a record is of one answer or of one row of an answer."""
    item = json.loads(key).get("answer") if key else None
    return f"{item}: " if item else ""


def _wrong_rows(day: RealDay, truth: Truth) -> list[str]:
    """What is stored and cannot have come from the files by any wire, or is gone."""
    stored = read_stored(day.warehouse, truth, day.window.today)
    gone = [f"{symbol} {date} is gone" for symbol, date in sorted(truth.rows.keys() - stored.bars.keys())]
    return [*gone, *impossible(truth, stored)]


def _caught(
    section: Section, name: str, day: RealDay, truth: Truth, run: Run, words: tuple[str, ...]
) -> None:
    """The run complained in these words, and the stored bars still equal the files."""
    said = _complaints(day, run)
    heard = [line for line in said if any(word in line for word in words)]
    wrong = _wrong_rows(day, truth)
    rejected = _totals(day, run)["rejected"]
    figure = f"refused for {len(heard)} reasons, {rejected} rows left out, {len(wrong)} wrong values stored"
    section.add(name, figure, bool(heard) and not wrong, [*shortened(heard, 4), *shortened(wrong)])


# -- the three faults --------------------------------------------------------------------------------


def cut_list(day: RealDay, rows: int) -> Section:
    """On an empty warehouse: a list that ends early writes nothing at all."""
    section = Section("fault: a list cut short")
    rule = {"upstream": "*", "call": "*list*", "kind": "cut_list", "args": {"rows": rows}}
    with day.fault(rule):
        run = day.run("security_list", day.window.today)
    said = _complaints(day, run)
    filled = {name: count for name, count in _rows_held(day).items() if count}
    ok = not run.success and not filled and any("promised" in line for line in said)
    section.add(
        f"list cut at {rows} rows: refused before any write",
        f"{len(said)} contract records, {sum(filled.values())} rows written",
        ok,
        shortened(said, 6),
    )
    return section


def other_unit(day: RealDay, truth: Truth, boards: tuple[str, ...] | None = None) -> Section:
    """Volumes of one board in the other unit: in the day's quotes and in the bars of the backfill. Two such
    rows refuse an answer; the only one of its board costs itself."""
    section = Section("fault: lots on one board, shares on another")
    boards = Companies(truth, day.window).boards if boards is None else boards
    if not boards:
        section.add("boards other than the main board", "none in these files")
    words = ("lots or shares", "wrong unit")
    for board in boards:
        rule: dict[str, Any] = {"kind": "lots_for_shares", "args": {"board": board}}
        alone = sum(board_of(symbol) == board for symbol in truth.symbols) == 1
        with day.fault({"upstream": "tdx", "call": "quotes", **rule}):
            run = day.run("eod_core", day.window.today)
        name = f"quotes, {board}: another source serves the day"
        # The only row of its board costs itself, and the answer is short by it.
        said = (*words, "the universe promises") if alone else words
        _caught(section, name, day, truth, run, said)
        section.findings[-1].ok &= run.fine
        revised = _totals(day, run, "fusion_kline_daily")["superseded"]
        section.add("another source's rounding is no correction", f"{revised} revisions", revised == 0)
        with day.fault({"upstream": "tdx", "call": "bars*", **rule}):
            run = day.run("history", *_first_days(day))
        _caught(section, f"bars, {board}: refused", day, truth, run, words)
        with day.fault({"upstream": "*", "call": "*", **rule}):
            run = day.run("eod_core", day.window.today)
        _caught(section, f"every upstream, {board}: nothing is written", day, truth, run, words)
        revised_rows = _revised(day, run)
        section.findings[-1].ok &= (not run.fine or alone) and not revised_rows
        section.findings[-1].detail += revised_rows
    return section


def wrong_instrument(day: RealDay, truth: Truth) -> Section:
    """An index, then another stock, served under a stock's code. One such row costs itself, never the rows
    from another source: the run may succeed without it, when it is counted as rejected."""
    section = Section("fault: another instrument under a stock's code")
    companies = Companies(truth, day.window)
    stock, index, other = companies.stock, companies.index, companies.other_stock
    # A row that is left out shows in a small set as an answer that is short by it.
    words = (stock, "another instrument", "the universe promises")
    for serve, what in ((index, "an index"), (other, "a stock")):
        if serve is None:
            section.add(f"{what} under {stock}", "none in these files")
            continue
        rule: dict[str, Any] = {"kind": "wrong_instrument", "args": {"serve": serve, "under": stock[2:]}}
        with day.fault({"upstream": "tdx", "call": "quotes", **rule}):
            run = day.run("eod_core", day.window.today)
        _caught(section, f"quotes, {what} under {stock}", day, truth, run, words)
        section.findings[-1].ok &= run.fine
        with day.fault({"upstream": "tdx", "call": "bars*", **rule}):
            run = day.run("history", *_first_days(day))
        _caught(section, f"bars, {what} under {stock}", day, truth, run, words)
        section.findings[-1].ok &= run.fine
    rule = {"kind": "wrong_instrument", "args": {"serve": index or other, "under": stock[2:]}}
    with day.fault({"upstream": "*", "call": "*", **rule}):
        run = day.run("eod_core", day.window.today)
    _caught(
        section,
        f"every upstream, {'an index' if index else 'a stock'}: nothing is written",
        day,
        truth,
        run,
        words,
    )
    rejected = _totals(day, run)["rejected"]
    revised = _revised(day, run)
    section.findings[-1].ok &= not revised and (not run.fine or rejected > 0)
    section.findings[-1].detail += [*revised, *(f"{asset}: {why}" for asset, why in run.failed.items())]
    return section


# -- twice, and corrected ------------------------------------------------------------------------------


def second_run(day: RealDay) -> Section:
    """The same day again: the upstreams are asked again, and no row is written."""
    section = Section("a day materialised twice")
    run = day.run("eod_core", day.window.today)
    totals, asked = _totals(day, run), _asked(day, run)
    busy = day.warehouse.query(
        "SELECT table_name, SUM(rows_written) FROM sys_batch WHERE run_id=? AND rows_written>0 GROUP BY 1",
        (run.run_id,),
    )
    section.add(
        "second run of the day",
        f"{totals['written']} rows written, {totals['unchanged']:,} unchanged, {asked} responses",
        run.fine and totals["written"] == 0 and totals["unchanged"] > 0 and asked > 0,
        [f"{table}: {count} rows" for table, count in busy],
    )
    return section


def correction(day: RealDay, truth: Truth) -> Section:
    """The upstream corrects one close: one revision, and both states stay readable."""
    section = Section("a bar corrected by the upstream")
    row = Companies(truth, day.window).corrected
    code, date = row.code, row.date
    old, new = float(row.prices["close"]), float(row.prices["low"])
    args = {"code": code, "date": date, "close": new}
    with day.fault({"upstream": "tdx", "call": "bars*", "kind": "override_bar", "args": args}):
        run = day.run("history", date)
    totals = _totals(day, run, "fusion_kline_daily")
    kept = day.warehouse.query(
        "SELECT close FROM fusion_kline_daily_history WHERE code=? AND date=?", (code, date)
    )
    section.add(
        f"{code} on {date}: {old} -> {new}",
        f"{totals['written']} row written, {totals['superseded']} superseded, {len(kept)} in the history",
        totals["written"] == 1 and totals["superseded"] == 1 and [value for (value,) in kept] == [old],
    )
    before, today = day.window.until, day.window.today
    for as_of, expected in ((f"{before} 23:59:59.999999", old), (f"{today} 15:44:59.999999", old),
                            (f"{today} 23:59:59.999999", new), (None, new)):  # fmt: skip
        found = day.warehouse.rows("fusion_kline_daily", ANY.code == code, ANY.date == date, as_of=as_of)
        close = [item["close"] for item in found]
        section.add(f"close as of {as_of or 'now'}", f"{close}", close == [expected])
    before_public = day.warehouse.rows(
        "fusion_kline_daily", ANY.code == code, ANY.date == date, as_of=f"{date} 14:59:59.999999"
    )
    section.add("before its session closed", f"{len(before_public)} rows", before_public == [])
    return section
