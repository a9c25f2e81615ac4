"""The parameters that a route declares, those of its dependencies included."""

from collections.abc import Iterator, Sequence
from typing import Any

from fastapi.dependencies.models import Dependant


def parameters_of(dependant: Dependant | None) -> Iterator[Any]:
    """Query and path parameters."""
    if dependant is None:
        return
    yield from dependant.query_params
    yield from dependant.path_params
    children: Sequence[Dependant] = dependant.dependencies
    for child in children:
        yield from parameters_of(child)


def query_names(dependant: Dependant) -> tuple[str, ...]:
    """Names of the query parameters, in the order of their declaration."""
    return tuple(
        dict.fromkeys(
            one.alias for one in parameters_of(dependant) if type(one.field_info).__name__ == "Query"
        )
    )
