"""`ashare start`."""

import click


@click.command("start")
@click.option("--codes", metavar="CODES", help="Comma list: 600519, sh600519 or 600519.SH; 000300.SH.")
@click.option("--since", metavar="DATE", help="First day of the history, YYYY-MM-DD; default: ten years ago.")
def command(codes: str | None, since: str | None) -> int:
    """Load exactly the named stocks, funds and indices from the real upstreams, with everything that belongs
    to them, and run the platform on them in this terminal; Ctrl-C stops it.

    The codes become the watch list of the installation: scheduled evenings load these and no others, and the
    next start goes on with them (without --codes). DATA_DIR must not hold a whole market, or the sample.
    DATA_SOURCE=mock asks the simulated market instead.
    """
    from ashare.work.watched import start  # noqa: PLC0415  see ashare.main

    return start(codes, since)
