"""What `ashare download` does."""

import re
from pathlib import Path

from ashare.output import Output
from ashare.session import command_settings
from core.errors import InputError
from resources.composition import market_clock, open_context
from resources.stored_calendar import stored_calendar
from resources.upstreams.tdx_packages import downloads

FOLDER = "packages"
PACKAGES = ("bars", "events", "reports")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def run(out: Output, package: str, folder_name: str | None) -> None:
    """Download a package; shows where it is and how it is imported."""
    settings = command_settings()
    calendar, clock = stored_calendar(settings).look_now().fixed(), market_clock(settings)
    if package not in PACKAGES and not (_DATE.fullmatch(package) and calendar.is_trade_date(package)):
        raise InputError(
            "package", f"{package[:40]!r} is none of {', '.join(PACKAGES)}, and no trade date YYYY-MM-DD"
        )
    folder = Path(folder_name) if folder_name else settings.data_path / FOLDER
    ctx = open_context(settings, clock, calendar)
    try:
        client = ctx.tdx_packages
        with out.progress(package, 1000) as bar:

            def report(done: int, total: int) -> None:
                bar.at(int(1000 * done / max(total, 1)))
                # The parts are on disk: what the log holds of them is not needed again.
                ctx.log.clear()

            if package == "bars":
                target = downloads.all_bars(client, folder, report)
            elif package == "events":
                target = downloads.events(client, folder, f"{clock.now():%Y-%m-%d}", report)
            elif package == "reports":
                target = folder / "reports"
                downloads.reports(client, ctx.tdx, target, report)
            else:
                target = downloads.date_package(client, folder, package, report)
    finally:
        ctx.close()
    out.result(
        {"package": package, "path": str(target.absolute())},
        [f"{package} in {target.absolute()}", f"bring it in with: ashare import {target.absolute()}"],
    )
