"""What a load did, in figures: rows, rejected, warnings with their reasons, calls, seconds; and what a
file set holds."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from simulated_market.world.replay_files import INDICES
from tests.real_day.findings import Section
from tests.real_day.rules import board_of
from tests.real_day.services import RealDay, Run
from tests.real_day.truth import BIG_CUT, Truth
from tests.real_day.window import Window, absent_files


def counts(truth: Truth) -> dict[str, int]:
    """What the window of the files holds."""
    events = truth.where("is_ex_day")
    boards = Counter(board_of(symbol) for symbol in truth.symbols)
    return {
        "dates": len(truth.dates),
        "codes": len(truth.symbols),
        "rows": len(truth.rows),
        "ex-right days": len(events),
        "cuts of more than 15 %": sum(row.cut > BIG_CUT for row in events),
        "suspended rows": sum(not row.traded for row in truth.rows.values()),
        "rows under special treatment": len(truth.where("st")),
        "rows without limits": sum(row.band is None for row in truth.rows.values()),
        **{f"codes of {board}": boards[board] for board in ("main", "gem", "star", "bj")},
        "indices": len({symbol for symbol, _ in truth.indices}),
    }


def set_section(folder: Path, window: Window, truth: Truth) -> Section:
    """The file set in figures: nothing is compared here, the figures are the set's own."""
    section = Section(f"the file set: {window.since}..{window.today}, the clock at {window.now:%H:%M}")
    section.notes += [f"{name:<32}{count:>9,}" for name, count in counts(truth).items()]
    gone = absent_files(folder)
    section.notes.append(f"absent, and not needed: {', '.join(gone) or 'nothing'}")
    if INDICES in gone:
        section.notes.append("the mean of the set's own stocks is used for the indices; nothing compares it")
    return section


def run_section(day: RealDay, runs: Sequence[Run]) -> Section:
    """The runs of a load and what their batches say. An asset that fails for want of a file that the set does
    not have is named, and no failure of the day."""
    absent = absent_files(day.files)
    section = Section("runs")
    for run in runs:
        detail = [f"{asset}: {why}" for asset, why in run.failed.items()]
        detail += [f"{asset}: nothing to load without {' and '.join(absent)}" for asset in run.without]
        section.add(f"{run.job}", f"{run.seconds:.1f} s, run {run.run_id}", run.fine, detail)
    ids = tuple(run.run_id for run in runs)
    marks = ", ".join("?" for _ in ids)
    tables = day.warehouse.query(
        "SELECT table_name, COUNT(*), SUM(rows_in), SUM(rows_rejected), SUM(rows_warning), SUM(rows_written) "
        f"FROM sys_batch WHERE run_id IN ({marks}) AND parent_batch_id IS NULL "
        "GROUP BY table_name ORDER BY table_name",
        ids,
    )
    section.notes.append(
        f"{'table':<28}{'batches':>9}{'rows':>9}{'rejected':>10}{'warnings':>10}{'written':>9}"
    )
    for name, *counts in tables:
        batches, rows, rejected, warned, written = (int(count or 0) for count in counts)
        section.notes.append(f"{name:<28}{batches:>9,}{rows:>9,}{rejected:>10,}{warned:>10,}{written:>9,}")
    rejected = sum(int(row[3] or 0) for row in tables)
    section.add("rows rejected", f"{rejected}", rejected == 0)
    _warnings(day, ids, marks, section)
    _calls(day, ids, marks, section)
    _lineage(day, ids, marks, section)
    return section


def _warnings(day: RealDay, ids: tuple[str, ...], marks: str, section: Section) -> None:
    """Warnings by check; every row marked so names its reason."""
    reasons = day.warehouse.query(
        "SELECT q.table_name, q.check_name, q.severity, SUM(q.failed_count), MIN(q.message) "
        "FROM sys_quality_record q JOIN sys_batch b ON b.batch_id=q.batch_id "
        f"WHERE b.run_id IN ({marks}) AND q.natural_key IS NULL GROUP BY 1, 2, 3 ORDER BY 1, 2",
        ids,
    )
    dumb = sum(
        int(
            day.warehouse.query(
                f"SELECT COUNT(*) FROM {name} WHERE quality='warning' AND quality_flags IS NULL"
            )[0][0]
        )
        for name in ("fusion_kline_daily", "fusion_index_daily", "fusion_quote_snapshot", "fusion_valuation")
    )
    total = sum(int(row[3] or 0) for row in reasons)
    section.add(
        "warnings, each with its reason",
        f"{total} in {len(reasons)} checks, {dumb} without a reason",
        dumb == 0,
        [
            f"{table} {check} ({severity}): {count} x {message}"
            for table, check, severity, count, message in reasons
        ],
    )


def _calls(day: RealDay, ids: tuple[str, ...], marks: str, section: Section) -> None:
    """Responses by upstream and call; what HTTP responders counted themselves is the same number."""
    rows = day.warehouse.query(
        "SELECT upstream, call_name, outcome, COUNT(*) FROM sys_fetch "
        f"WHERE run_id IN ({marks}) GROUP BY 1, 2, 3 ORDER BY 1, 2",
        ids,
    )
    totals: dict[str, int] = {}
    kinds: dict[str, list[str]] = {}
    for upstream, call, outcome, count in rows:
        totals[upstream] = totals.get(upstream, 0) + int(count)
        shown = "" if outcome == "ok" else f" {outcome}"
        kinds.setdefault(upstream, []).append(f"{call}{shown} {count}")
    section.add(
        "calls per upstream",
        ", ".join(f"{name} {count}" for name, count in totals.items()),
        bool(totals),
        [f"{name}: {', '.join(parts)}" for name, parts in kinds.items()],
    )


def _lineage(day: RealDay, ids: tuple[str, ...], marks: str, section: Section) -> None:
    """Every stored bar leads to a batch of one of these runs, and the batch to responses."""
    total = day.warehouse.query("SELECT COUNT(*) FROM fusion_kline_daily")[0][0]
    linked = day.warehouse.query(
        "SELECT COUNT(*) FROM fusion_kline_daily k JOIN sys_batch b ON b.batch_id=k.batch_id "
        f"WHERE b.run_id IN ({marks}) AND b.world='replay'",
        ids,
    )[0][0]
    section.add(
        "bars that lead to a batch and its run", f"{linked:,} of {total:,}", linked == total and total > 0
    )
