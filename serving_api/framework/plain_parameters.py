"""Parameters of routes that have nothing but scalars in their path and query.

FastAPI solves every request as if it had dependencies, bodies and lists: for such a route a fifth of the
time of an answer that was not asked for before (`make bench`, `shortcuts`). Here the same fields validate
the same texts; what is missing or not valid is left to FastAPI, which explains it.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from fastapi import params
from fastapi.dependencies.models import Dependant
from starlette.requests import Request
from starlette.responses import Response

_SCALARS = (str, int, float, bool, NoneType)
_SAID = (
    "header_params", "cookie_params", "body_params", "dependencies", "websocket_param_name",
    "http_connection_param_name", "response_param_name", "background_tasks_param_name",
    "security_scopes_param_name",
)  # fmt: skip
"""What else a route may take, by FastAPI's names."""


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _is_plain(field: Any) -> bool:
    """Whether a field is validated from one text, and its default given as it is."""
    info = field.field_info
    kinds = _alternatives(info.annotation)
    return (
        isinstance(info, params.Path | params.Query)
        and all(kind in _SCALARS or get_origin(kind) is Literal for kind in kinds)
        and info.validation_alias in (None, field.alias)
        and info.default_factory is None
        and not info.validate_default
        and (info.is_required() or isinstance(info.default, _SCALARS))
    )


@dataclass(frozen=True)
class PlainParameters:
    """The fields of a route's path and query, and the name of its request."""

    path: tuple[Any, ...]
    query: tuple[Any, ...]
    request: str | None

    @classmethod
    def of(cls, dependant: Dependant) -> "PlainParameters | None":
        """Those of a route that takes nothing else and answers with a response; None for any other."""
        fields = [*dependant.path_params, *dependant.query_params]
        if any(getattr(dependant, name) for name in _SAID) or not all(map(_is_plain, fields)):
            return None
        returned = (
            inspect.signature(dependant.call, eval_str=True).return_annotation if dependant.call else None
        )
        if not all(inspect.isclass(one) and issubclass(one, Response) for one in _alternatives(returned)):
            return None
        return cls(tuple(dependant.path_params), tuple(dependant.query_params), dependant.request_param_name)

    def read(self, request: Request) -> dict[str, Any] | None:
        """The arguments of the endpoint; None where one is missing or not valid."""
        given: dict[str, Any] = {}
        if not (
            _add(given, self.path, request.path_params) and _add(given, self.query, request.query_params)
        ):
            return None
        if self.request is not None:
            given[self.request] = request
        return given


def _add(given: dict[str, Any], fields: tuple[Any, ...], texts: Mapping[str, Any]) -> bool:
    for field in fields:
        value = texts.get(field.alias)
        if value is None:
            if field.field_info.is_required():
                return False
            given[field.name] = field.field_info.default
            continue
        given[field.name], errors = field.validate(value)
        if errors:
            return False
    return True
