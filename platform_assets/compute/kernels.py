"""The decorators of the compiled kernels: what is compiled once is read from the cache folder afterwards.

`NUMBA_CACHE_DIR` names that folder; the supervisor sets it for the processes that it starts
(`DATA_DIR/numba`). Importing this module imports numba: the serving side imports no kernel.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(function: _Kernel) -> _Kernel:
    """Compiled at its first call, kept on disk, and run without the interpreter's lock. Exact floating point:
    no reordering, so that a rerun is equal byte for byte."""
    compiled: _Kernel = njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function)
    return compiled
