"""`ashare exrights`."""

import click

from ashare.output import Output


@click.group("exrights")
def command() -> None:
    """Quoted reference prices that no ex-right event explains, and why one is closed without an event."""


@command.command("list")
@click.option("--closed", is_flag=True, help="The closed ones instead of the open ones.")
@click.pass_obj
def listed(out: Output, closed: bool) -> None:
    """The items with their evidence: quoted price, stored close, ratio, days open."""
    from ashare.work.exrights import show  # noqa: PLC0415  see ashare.main

    show(out, closed)


@command.command("close")
@click.argument("code")
@click.argument("date")
@click.option("--reason", required=True, help="Why there is no event to come, at most 255 characters.")
@click.option(
    "--quote",
    required=True,
    type=click.Choice(["counts", "ignored"]),
    help="The quoted ratio stays in the factor of adjusted prices, or the quote was wrong.",
)
@click.pass_obj
def close(out: Output, code: str, date: str, reason: str, quote: str) -> int:
    """Close the open item of CODE and DATE by a reason."""
    from ashare.work.exrights import record  # noqa: PLC0415  see ashare.main

    return record(out, {"code": code, "date": date, "reason": reason, "counts": quote == "counts"})


@command.command("reopen")
@click.argument("code")
@click.argument("date")
@click.pass_obj
def reopen(out: Output, code: str, date: str) -> int:
    """Take back the reason of CODE and DATE: the item is open again."""
    from ashare.work.exrights import record  # noqa: PLC0415  see ashare.main

    return record(out, {"code": code, "date": date})
