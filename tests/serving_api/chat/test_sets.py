"""True answers and lies in the styles of five model families, as they reach a reader. The sets were written
without a look at the checker."""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.serving_api.chat.sets.frames import Case, cases
from tests.serving_api.chat.sets.measuring import Reader, reader


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with reader(tmp_path_factory.mktemp("sets")) as one:
        yield one


def many(kind: str, *, few: bool) -> list[Case]:
    """Of the first set and of the smaller one that came after the fixes."""
    files = (f"{kind}.txt", f"{kind}_unseen.txt")
    return [case for file in files for case in (cases(file, 1, 1) if few else cases(file, 4, 4))]


SIZES = [True, pytest.param(False, marks=pytest.mark.full)]


@pytest.mark.parametrize("few", SIZES)
def test_true_answers_are_shown_whole(asked: Reader, few: bool) -> None:
    seen = [asked.see(case) for case in many("true", few=few)]
    assert not [one for one in seen if one.by_rules], "refused as a whole"
    assert not [one.answer for one in seen if not one.clickable], "a citation without its row"
    damaged = [one.answer for one in seen if not one.whole]
    assert len(damaged) <= 0.02 * len(seen), damaged


@pytest.mark.parametrize("few", SIZES)
def test_what_is_false_does_not_reach_the_reader(asked: Reader, few: bool) -> None:
    seen = [asked.see(case) for case in many("lies", few=few)]
    believed = Counter(one.case.frame.kind for one in seen if one.believed)
    texts = sum(one.case.frame.kind.startswith("text") for one in seen)
    denied = sum(count for kind, count in believed.items() if kind.startswith("text"))
    assert denied <= 0.02 * texts, believed
    assert believed.total() - denied <= 0.01 * (len(seen) - texts), believed
