"""The drawn examples are what the committed bars give."""

from tests.compute.patterns.examples import FOLDER, drawings


def test_examples_are_up_to_date() -> None:
    for name, svg in drawings().items():
        assert (FOLDER / name).read_text() == svg, "python -m tests.compute.patterns.examples draws them"
