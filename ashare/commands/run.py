"""`ashare run`."""

import click


@click.command("run")
def command() -> int:
    """Start the platform in this terminal, as `make run` does; Ctrl-C stops it."""
    from schedules.supervisor.app import run  # noqa: PLC0415  see ashare.main

    return run()
