"""What a load did, in figures: rows, rejected, warnings with their reasons, calls, seconds. And what the full
set is known to hold."""

from collections.abc import Sequence

from tests.real_day.findings import Section
from tests.real_day.house import RealDay, Run
from tests.real_day.truth import BIG_CUT, Truth

FULL = {
    "dates": 61,
    "codes": 293,
    "rows": 17_813,
    "ex-right days": 219,
    "cuts of more than 15 %": 22,
    "suspended rows": 13,
    "rows under special treatment": 61,
    "rows without limits": 1,
}
"""The window of the full set, counted when it was chosen."""
SLICE = {
    "dates": 61,
    "codes": 12,
    "rows": 672,
    "ex-right days": 9,
    "cuts of more than 15 %": 4,
    "suspended rows": 12,
    "rows under special treatment": 61,
    "rows without limits": 1,
}


def check_window(truth: Truth, section: Section, known: dict[str, int] | None = None) -> None:
    """The files are those that the figures were taken from."""
    events = truth.where("is_ex_day")
    counted = {
        "dates": len(truth.dates),
        "codes": len(truth.symbols),
        "rows": len(truth.rows),
        "ex-right days": len(events),
        "cuts of more than 15 %": sum(row.cut > BIG_CUT for row in events),
        "suspended rows": sum(not row.traded for row in truth.rows.values()),
        "rows under special treatment": len(truth.where("st")),
        "rows without limits": sum(row.band is None for row in truth.rows.values()),
    }
    expected = FULL if known is None else known
    wrong = [
        f"{name}: {counted[name]}, known {count}"
        for name, count in expected.items()
        if counted[name] != count
    ]
    section.equal("figures of the window as known", len(expected), wrong)


def run_section(day: RealDay, runs: Sequence[Run]) -> Section:
    """The runs of a load and what their batches say."""
    section = Section("runs")
    for run in runs:
        detail = [f"{asset}: {why}" for asset, why in run.failed.items()]
        section.add(f"{run.job}", f"{run.seconds:.1f} s, run {run.run_id}", run.success, detail)
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
