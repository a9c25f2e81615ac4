"""`ashare run`."""

import click

from schedules.supervisor.app import run


@click.command("run")
def command() -> int:
    """Start the platform in this terminal, as `make run` does; Ctrl-C stops it."""
    return run()
