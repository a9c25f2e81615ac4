"""A transaction that loses a deadlock of MariaDB is tried again as a whole."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy.engine import Engine

from core.errors import Deadlock
from resources.warehouse.deadlocks import TRIES, tried_again
from resources.warehouse.engine import make_engine, transaction
from tests.conftest import listens, require
from tests.databases import MARIADB_URL, own_mariadb


@pytest.fixture
def engine() -> Iterator[Engine]:
    require("MariaDB", listens(MARIADB_URL), MARIADB_URL)
    with own_mariadb("deadlocks") as url:
        made = make_engine(url)
        with transaction(made) as connection:
            connection.exec_driver_sql("CREATE TABLE counter (id INT PRIMARY KEY, n INT)")
            connection.exec_driver_sql("INSERT INTO counter VALUES (1, 0), (2, 0)")
        yield made
        made.dispose()


@pytest.mark.mariadb
def test_of_two_transactions_that_wait_for_each_other_both_hold_in_the_end(engine: Engine) -> None:
    meet, tries = Barrier(2), []

    @tried_again
    def count(first: int, second: int) -> None:
        tries.append(first)
        with transaction(engine) as connection:
            connection.exec_driver_sql("UPDATE counter SET n=n+1 WHERE id=%s", (first,))
            if len(tries) <= 2:
                meet.wait(10)
            connection.exec_driver_sql("UPDATE counter SET n=n+1 WHERE id=%s", (second,))

    with ThreadPoolExecutor(2) as both:
        for done in [both.submit(count, 1, 2), both.submit(count, 2, 1)]:
            done.result(30)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT n FROM counter").scalars().all() == [2, 2]
    assert len(tries) == 3


def test_one_that_always_loses_says_so() -> None:
    tries = []

    @tried_again
    def lose() -> None:
        tries.append(1)
        raise Deadlock("once more")

    with pytest.raises(Deadlock):
        lose()
    assert len(tries) == TRIES
