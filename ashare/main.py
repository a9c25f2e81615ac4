"""The group `ashare`. A module of `ashare.commands` declares arguments and options and loads no library but
click; what the command does is in `ashare.work`, whose imports take seconds: a shell that completes a word
waits for none of them."""

import importlib
import logging
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from ashare.output import Output
from core.errors import PlatformError
from core.loopback import add_no_proxy

OURS = frozenset(
    {"ashare", "core", "platform_assets", "resources", "schedules", "serving_api", "simulated_market"}
)
COMMANDS = {
    "start": "Load some stocks from the real upstreams and run the platform on them.",
    "add": "Put stocks, funds or indices on the watch list and load them.",
    "run": "Start the platform in this terminal, as `make run` does.",
    "doctor": "Check configuration, services, disk, clock, permissions and upstreams.",
    "plan": "What a load would cost, each way that there is: calls, minutes, bytes.",
    "load": "Load what is missing, one dataset of a trade date, or some codes.",
    "backfill": "Load the missing trade dates of a dataset, or show what that costs.",
    "exrights": "Quoted prices without an ex-right event: list them, close one by a reason.",
    "lineage": "Where a stored row comes from: sources, batches, upstream responses.",
    "download": "Download a package of the terminal's publisher: all bars, events, reports, a date.",
    "import": "Bring rows of files into the platform: of the terminal, CSV, Parquet, Excel, qlib.",
    "export": "Write rows of a table to a file: CSV, JSON lines, Parquet, Excel, qlib.",
    "lake": "Publish the tables as Delta Lake tables, compare them, tidy them up.",
    "backup": "Copy the state of the installation into a folder, while it runs or not.",
    "restore": "Bring a backup back into a platform that does not run.",
    "user": "Add accounts.",
    "completion": "Print the completion script of a shell.",
}


class LazyGroup(click.Group):
    """A group whose commands are the objects `command` of the modules in `ashare.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"ashare.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*found, *options]


@click.group("ashare", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Answer and errors as JSON, without progress bars.")
@click.pass_context
def ashare(ctx: click.Context, as_json: bool) -> None:
    """Run and administer an A-share research platform.

    The settings are those of `make run`: the environment, then the file .env, then the defaults. The
    commands work on the data folder and the database directly; those that load data need a running platform.
    """
    ctx.obj = Output(as_json)
    if ctx.invoked_subcommand not in ("run", "start"):  # the supervisor's records go to its file alone
        logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(levelname)s %(message)s")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 done, 1 failed, 2 wrong usage, 3 loaded in part, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    out = Output("--json" in given)
    add_no_proxy(os.environ)
    try:
        return int(ashare.main(given, prog_name="ashare", standalone_mode=False) or 0)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        if out.as_json:
            out.failed(error.format_message(), getattr(getattr(error, "param", None), "name", None))
        else:
            error.show()
        return error.exit_code
    except click.Abort:
        out.failed("interrupted")
        return 130
    except PlatformError as error:
        out.failed(error.message, getattr(error, "parameter", None))
        return 1
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in OURS:
            raise
        out.failed(
            f"{error.name} is not installed; commands need, in the checkout: pip install -e '.[server]'"
        )
        return 1
