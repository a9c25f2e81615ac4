"""A public client that its authors tested on the real upstreams reads the simulated market with its own
parsers, and what it reads equals what our clients read there.

The quick ones run in `make test-all`, all of them in `make witness`.
"""

import warnings
from typing import Any

import akshare
import pandas as pd
import pytest

from tests.witness.cases import CASES, Case
from tests.witness.compare import compared, differences
from tests.witness.market import Market
from tests.witness.redirect import redirected

_CASES = [pytest.param(one, id=one.function, marks=() if one.quick else pytest.mark.soak) for one in CASES]


def theirs(market: Market, case: Case) -> pd.DataFrame:
    named = market.named()
    arguments = {name: named.get(value, value) for name, value in case.arguments.items()}
    with warnings.catch_warnings(), redirected(market.url):
        warnings.simplefilter("ignore")
        table: Any = getattr(akshare, case.function)(**arguments)
    assert isinstance(table, pd.DataFrame)
    return table


def test_at_least_ninety_functions_are_compared() -> None:
    assert akshare.__version__ == "1.19.5"
    assert len({case.function for case in CASES}) == len(CASES) >= 90


@pytest.mark.parametrize("case", _CASES)
def test_what_they_read_is_what_we_read(market: Market, case: Case) -> None:
    reported, ours = theirs(market, case), case.ask(market)

    assert len(reported) > 0
    assert differences(case, reported, ours) == []
    assert compared(case, reported, ours) > 0
