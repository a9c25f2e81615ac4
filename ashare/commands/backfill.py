"""`ashare backfill`."""

import click

from ashare.output import Output


@click.command("backfill")
@click.argument("dataset", required=False)
@click.option("--datasets", metavar="NAMES", help="Comma list, in place of DATASET.")
@click.option("--codes", metavar="CODES", help="Of these codes alone, all dates again.")
@click.option("--from", "--since", "since", required=True, metavar="DATE", help="First day, YYYY-MM-DD.")
@click.option("--to", "until", metavar="DATE", help="Last day; default: the newest complete trade date.")
@click.option("--all", "every", is_flag=True, help="Load dates again that are loaded already.")
@click.option("--plan", is_flag=True, help="Only show the cost: calls, minutes, rows.")
@click.option("--no-wait", is_flag=True, help="Return when the platform has accepted it.")
@click.pass_obj
def command(
    out: Output,
    dataset: str | None,
    datasets: str | None,
    codes: str | None,
    since: str,
    until: str | None,
    every: bool,
    plan: bool,
    no_wait: bool,
) -> int:
    """Load the missing trade dates of DATASET in a range, or show what that costs.

    The exit code is 3 when a date is still missing afterwards, 1 when all of them are.
    """
    from ashare.work.backfill import run  # noqa: PLC0415  see ashare.main

    return run(out, dataset, datasets, codes, since, until, every=every, plan=plan, wait=not no_wait)
