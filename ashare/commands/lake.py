"""`ashare lake`."""

import click

from ashare.output import Output

_NAMES = click.argument("names", nargs=-1, metavar="[TABLE]...")


@click.group("lake")
def command() -> None:
    """Publish what changed in the lake, compare it with the warehouse, tidy it up.

    Without a TABLE: every fused, calculated and reference table.
    """


@command.command("publish")
@_NAMES
@click.pass_obj
def publish(out: Output, names: tuple[str, ...]) -> int:
    """Publish the months that changed since they were published; the task lake_publish does the same.

    The exit code is 1 when a table could not be published.
    """
    from ashare.work import lake  # noqa: PLC0415  see ashare.main

    return lake.publish(out, names)


@command.command("check")
@_NAMES
@click.pass_obj
def check(out: Output, names: tuple[str, ...]) -> int:
    """Compare the rows of every published month with those of the warehouse, by a hash of their content.

    A month that changed since it was published is behind and is not compared: readers take it from the
    warehouse. The exit code is 1 when a month differs.
    """
    from ashare.work import lake  # noqa: PLC0415  see ashare.main

    return lake.check(out, names)


@command.command("tidy")
@_NAMES
@click.pass_obj
def tidied(out: Output, names: tuple[str, ...]) -> None:
    """Delete the files that no version of the last seven days needs; the task data_cleanup does the same."""
    from ashare.work import lake  # noqa: PLC0415  see ashare.main

    lake.tidied(out, names)
