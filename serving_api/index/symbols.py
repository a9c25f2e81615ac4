"""Codes of indices, as clients write them and as they are stored."""

from core.errors import InputError
from core.market.symbols import index_code


def symbol_of(text: str, parameter: str = "symbol") -> str:
    """The code under which an index is stored. Raises InputError that names the parameter."""
    try:
        return index_code(text)
    except InputError as error:
        raise InputError(parameter, error.problem) from None
