"""One file per data type of the unified read, each with a `DATA_TYPE`."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from core.errors import DeclarationError
from serving_api.live.data_types import DataType


@cache
def data_types() -> Mapping[str, DataType]:
    """Every data type by its name. Raises DeclarationError when a file declares none, or two share a name."""
    found: dict[str, DataType] = {}
    for module in pkgutil.iter_modules(__path__):
        declared = getattr(importlib.import_module(f"{__name__}.{module.name}"), "DATA_TYPE", None)
        if not isinstance(declared, DataType):
            raise DeclarationError(f"serving_api/live/types/{module.name}.py declares no DATA_TYPE")
        if declared.name in found:
            raise DeclarationError(f"two data types are named {declared.name}")
        found[declared.name] = declared
    return found
