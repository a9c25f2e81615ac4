"""`ashare completion`."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of SHELL; for bash: eval "$(ashare completion bash)"."""
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"no completion for {shell}")
    root = ctx.find_root()
    click.echo(made(root.command, {}, "ashare", "_ASHARE_COMPLETE").source())
