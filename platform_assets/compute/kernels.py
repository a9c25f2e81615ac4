"""The decorator of the compiled kernels: what is compiled once is read from the cache folder afterwards.

`NUMBA_CACHE_DIR` names that folder; the supervisor sets it for the processes that it starts
(`DATA_DIR/numba`). numba looks at a kernel's own file to see whether its cached code is out of date, but the
code holds what it calls and the constants that it reads as well. So each module's kernels lie in a folder
named after the digest of its source and of all that it imports below `platform_assets.compute`.

Importing this module imports numba: the serving side imports no kernel.
"""

import ast
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
PACKAGE = "platform_assets.compute"
ROOT = Path(__file__).parent


def kernel(function: _Kernel) -> _Kernel:
    """Compiled at its first call, kept on disk, and run without the interpreter's lock. Exact floating point:
    no reordering, so that a rerun is equal byte for byte."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    if base:
        source = getattr(sys.modules[function.__module__], "__file__", None)
        config.CACHE_DIR = str(Path(base) / digest(Path(source))) if source else base
    compiled: _Kernel = njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function)
    return compiled


def step(function: _Kernel) -> _Kernel:
    """A part of kernels that only kernels call: compiled with each of them, without what calls from Python
    need, which is a good deal of what there is to compile."""
    compiled: _Kernel = njit(
        nogil=True, fastmath=False, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return compiled


@cache
def digest(source: Path) -> str:
    """Hash of a module's source and of those that it is made with."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(_imported(path))
    sources = sorted((path.name, path.read_bytes()) for path in seen)
    return hashlib.blake2b(repr(sources).encode(), digest_size=8).hexdigest()


@cache
def _imported(source: Path) -> tuple[Path, ...]:
    """Files below this package that a module imports."""
    return tuple(path for name in _names(source) if (path := _file(name)) is not None)


def _names(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file(name: str) -> Path | None:
    """The file of a module of this package."""
    if not name.startswith(f"{PACKAGE}."):
        return None
    place = ROOT.joinpath(*name.removeprefix(f"{PACKAGE}.").split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
