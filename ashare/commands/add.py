"""`ashare add`."""

import click

from ashare.output import Output


@click.command("add")
@click.argument("codes", nargs=-1, required=True)
@click.option("--since", metavar="DATE", help="First day of the history, YYYY-MM-DD; default: ten years ago.")
@click.option("--plan", is_flag=True, help="Only show what is asked for: calls, minutes.")
@click.option("--no-wait", is_flag=True, help="Return when the platform has accepted it.")
@click.pass_obj
def command(out: Output, codes: tuple[str, ...], since: str | None, plan: bool, no_wait: bool) -> int:
    """Put CODES on the watch list of the running platform and load their history. A code that is on it is
    loaded again, as one is whose tables were loaded in part.
    """
    from ashare.work.watched import add  # noqa: PLC0415  see ashare.main

    return add(out, codes, since, plan, no_wait)
