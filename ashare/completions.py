"""What a shell offers for a value."""

from collections.abc import Callable

import click


def words(*known: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """For `shell_complete`: those of `known` that begin as the text does."""
    return lambda _ctx, _parameter, begun: [word for word in known if word.startswith(begun)]
