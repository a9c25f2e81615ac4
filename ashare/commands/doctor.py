"""`ashare doctor`."""

import click

from ashare.output import Output


@click.command("doctor")
@click.option("--offline", is_flag=True, help="Ask no upstream.")
@click.option(
    "--real", is_flag=True, help="Hold one answer of every kind of call of the real sites against its form."
)
@click.pass_obj
def command(out: Output, offline: bool, real: bool) -> int:
    """Check configuration, services, disk, clocks, permissions, the calendar and the upstreams.

    Every upstream gets one small request per kind of call, with the pacing of the loads. Writes nothing but
    probes: a row of the warehouse, an empty file. The exit code is 1 when a check failed.

    With --real one call of every kind goes to the real upstreams, whatever DATA_SOURCE says, with
    their pacing: some minutes. Fields that are gone, new, or of another type or scale are named, and the
    answers are kept below DATA_DIR/answers with a test that reads them.
    """
    from ashare.work.doctor import run  # noqa: PLC0415  see ashare.main

    return run(out, offline, real)
