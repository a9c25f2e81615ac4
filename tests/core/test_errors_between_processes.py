"""An error of ours that a child process raises is the same error in its parent."""

import pickle

import pytest

from core import errors
from core.errors import InputError, PlatformError, Transient, Unavailable


@pytest.mark.parametrize(
    "error",
    [
        InputError("since", "is no day"),
        Unavailable("the breaker is open", seconds_left=3.0, source="sina"),
        Transient("no answer", source="tdx", fetch_id="f1"),
        *(kind("text") for kind in vars(errors).values()
          if isinstance(kind, type) and issubclass(kind, PlatformError) and kind is not InputError),
    ],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_it_keeps_its_class_its_text_and_its_facts(error: PlatformError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
