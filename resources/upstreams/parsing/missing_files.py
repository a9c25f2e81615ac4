"""Sites that keep a file per day: no file is an answer."""

from core.errors import Permanent


def no_file(error: Permanent) -> bool:
    """Whether the site said that there is no such file, and nothing else."""
    return error.message.endswith("HTTP 404")
