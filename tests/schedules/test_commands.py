"""A command is claimed once, stays alive while its owner does, and is never lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.engine import Engine

from core.errors import ConflictError, InputError, NotFound
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.commands import CommandQueue


def test_concurrent_workers_claim_every_command_exactly_once(url: str) -> None:
    engines = [make_engine(url) for _ in range(3)]
    ids = {CommandQueue(engines[0]).enqueue("x", requested_by="t").id for _ in range(40)}

    def work(number: int) -> list[int]:
        queue = CommandQueue(engines[number])
        mine = []
        while (command := queue.claim(f"worker {number}")) is not None:
            mine.append(command.id)
            assert queue.finish(command, "success")
        return mine

    with ThreadPoolExecutor(3) as pool:
        claimed = [item for part in pool.map(work, range(3)) for item in part]
    for engine in engines:
        engine.dispose()

    assert len(claimed) == len(ids)
    assert set(claimed) == ids


def test_a_command_carries_its_arguments_and_outcome(engine: Engine) -> None:
    queue = CommandQueue(engine)
    asked = queue.enqueue("download", {"codes": ["600519"], "note": "中文"}, requested_by="admin")
    assert (asked.status, asked.args["note"]) == ("queued", "中文")

    mine = queue.claim("w")
    assert mine is not None
    assert mine.started_at is not None
    assert queue.progress(mine, {"done": 1}, run_id="r1")
    assert queue.finish(mine, "failed", result={"done": 2}, error="no answer")

    found = queue.get(asked.id)
    assert (found.status, found.result, found.error, found.run_id) == (
        "failed",
        {"done": 2},
        "no answer",
        "r1",
    )
    assert found.finished
    with pytest.raises(NotFound):
        queue.get(asked.id + 1000)


def test_the_same_key_is_the_same_command(engine: Engine) -> None:
    queue = CommandQueue(engine)
    first = queue.enqueue("x", {"a": 1}, requested_by="t", idempotency_key="k")

    assert queue.enqueue("x", {"a": 1}, requested_by="t", idempotency_key="k").id == first.id
    assert queue.enqueue("x", {"a": 1}, requested_by="t").id != first.id
    with pytest.raises(InputError, match="idempotency_key"):
        queue.enqueue("x", {"a": 2}, requested_by="t", idempotency_key="k")


def test_what_is_not_done_twice_at_a_time_is_accepted_once(url: str) -> None:
    """Two that ask at the same moment both find nobody at work."""
    engines = [make_engine(url) for _ in range(4)]
    queues = [CommandQueue(one) for one in engines]
    queues[0].enqueue("other", requested_by="t")

    def ask(queue: CommandQueue) -> int | None:
        try:
            return queue.enqueue_alone("recalc", {"by": id(queue)}, requested_by="t").id
        except ConflictError:
            return None

    for _ in range(5):
        with ThreadPoolExecutor(4) as pool:
            accepted = [one for one in pool.map(ask, queues) if one is not None]
        assert len(accepted) == 1
        assert ask(queues[1]) is None
        mine = queues[0].claim("w", names=["recalc"])
        assert mine is not None
        assert ask(queues[2]) is None
        queues[0].finish(mine, "success")
    for engine in engines:
        engine.dispose()


def test_one_thing_is_not_done_twice_beside_another(url: str) -> None:
    engines = [make_engine(url) for _ in range(4)]
    queues = [CommandQueue(one) for one in engines]

    def ask(queue: CommandQueue, about: str) -> int | None:
        try:
            return queue.enqueue_alone(
                "backfill",
                {"dataset": about, "by": id(queue)},
                requested_by="t",
                about=about,
                same=lambda command: command.args["dataset"] == about,
            ).id
        except ConflictError:
            return None

    for _ in range(3):
        with ThreadPoolExecutor(8) as pool:
            accepted = list(pool.map(ask, queues * 2, ["one"] * 4 + ["two"] * 4))
        assert [sum(one is not None for one in some) for some in (accepted[:4], accepted[4:])] == [1, 1]
        for _ in range(2):
            mine = queues[0].claim("w", names=["backfill"])
            assert mine is not None
            queues[0].finish(mine, "success")
    for engine in engines:
        engine.dispose()


def test_claims_take_the_oldest_of_the_names_asked_for(engine: Engine) -> None:
    queue = CommandQueue(engine)
    first = queue.enqueue("long", requested_by="t")
    second = queue.enqueue("short", requested_by="t")

    assert queue.claim("w", names=[]) is None
    short = queue.claim("w", names=["short", "other"])
    assert short is not None
    assert short.id == second.id
    rest = queue.claim("w")
    assert rest is not None
    assert rest.id == first.id


def test_an_expired_claim_is_retried_and_then_fails(engine: Engine) -> None:
    dying = CommandQueue(engine, lease_s=-1.0)
    asked = dying.enqueue("x", requested_by="t", max_attempts=2)

    first = dying.claim("w1")
    assert first is not None
    assert [command.status for command in dying.reap()] == ["queued"]
    second = dying.claim("w2")
    assert second is not None
    assert second.attempts == 2
    # The first owner was only slow: it must not settle what is another's by now.
    assert not dying.finish(first, "success")
    assert [command.status for command in dying.reap()] == ["failed"]
    assert "worker died" in (dying.get(asked.id).error or "")


def test_a_living_claim_is_not_reaped(engine: Engine) -> None:
    queue = CommandQueue(engine)
    queue.enqueue("x", requested_by="t")
    mine = queue.claim("w1")
    assert mine is not None

    assert queue.reap() == []
    assert queue.reap(owner="w2") == []
    assert queue.beat(mine)
    assert [command.status for command in queue.reap(owner="w1")] == ["queued"]
    assert not queue.beat(mine)


def test_cancel_ends_a_queued_command_and_asks_a_running_one(engine: Engine) -> None:
    queue = CommandQueue(engine)
    waiting, running = (queue.enqueue(name, requested_by="t") for name in ("a", "b"))
    mine = queue.claim("w", names=["b"])
    assert mine is not None

    assert queue.cancel(waiting.id).status == "canceled"
    assert queue.cancel(running.id).status == "running"
    assert queue.cancel_requested(mine)
    with pytest.raises(ConflictError):
        queue.cancel(waiting.id)
    # A worker that dies on a command which was to stop ends it: nobody wants it again.
    assert [command.status for command in queue.reap(owner="w")] == ["canceled"]


def test_wait_returns_at_the_result_or_at_the_deadline(lite: Engine) -> None:
    queue = CommandQueue(lite)
    asked = queue.enqueue("x", requested_by="t")
    now = 0.0
    naps: list[float] = []

    def sleep(seconds: float, /) -> None:
        nonlocal now
        now += seconds
        naps.append(seconds)
        if len(naps) == 3:
            mine = queue.claim("w")
            assert mine is not None
            queue.finish(mine, "success")

    assert queue.wait(asked.id, 30, sleep=sleep, monotonic=lambda: now).status == "success"
    assert len(naps) == 3

    other = queue.enqueue("x", requested_by="t")
    late = queue.wait(other.id, 1, sleep=sleep, monotonic=lambda: now)
    assert not late.finished
    assert now == pytest.approx(1.3)


def test_lists_count_and_filter(lite: Engine) -> None:
    queue = CommandQueue(lite)
    for _ in range(3):
        queue.enqueue("x", requested_by="t")
    queue.claim("w")

    rows, total = queue.recent(limit=2)
    assert (total, [row.id for row in rows]) == (3, [3, 2])
    assert queue.recent(status="running")[1] == 1
    assert [row.id for row in queue.of_name("x", statuses=("queued", "running"))] == [3, 2, 1]


def test_polling_does_not_wait_for_a_long_write(url: str) -> None:
    writing, polling = make_engine(url), make_engine(url, wait_s=0.05)
    with writing.begin() as connection:
        connection.exec_driver_sql("INSERT INTO sys_heartbeat(node_id) VALUES ('long write')")
        assert CommandQueue(polling).claim("w") is None
    writing.dispose()
    polling.dispose()
