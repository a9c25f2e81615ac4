"""Where a request's time goes, when a target is not met."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from tests.benchmarks.panel_data import LAST_DAY

ROOT = Path(__file__).parents[2]


def profiled(folder: Path, paths: Sequence[str], headers: dict[str, str]) -> str:
    """Where the time of requests goes: the app called in this process under cProfile, without the server.
    The first path is asked once without conditions, as the server was."""
    import asyncio
    import cProfile
    import pstats

    from resources.settings import Settings
    from serving_api.app import create_app

    settings = Settings(
        data_dir=str(folder), rate_limit_per_min=10**9, sample_now=f"{LAST_DAY}T16:00", log_level="WARNING"
    )
    app = create_app(settings)
    sent = [(b"host", b"127.0.0.1"), *((k.encode(), v.encode()) for k, v in headers.items())]
    unconditional = [pair for pair in sent if pair[0] != b"if-none-match"]
    coming = cycle(paths)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        if message.get("status", 200) not in (200, 304):
            raise RuntimeError(f"{paths[0]}: {message}")

    async def ask(times: int, with_headers: list[tuple[bytes, bytes]]) -> None:
        for _ in range(times):
            route, _, query = next(coming).partition("?")
            scope = {
                "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
                "scheme": "http", "path": route, "raw_path": route.encode(), "query_string": query.encode(),
                "root_path": "", "headers": with_headers, "client": ("127.0.0.1", 1),
                "server": ("127.0.0.1", 80),
            }  # fmt: skip
            await app(scope, receive, send)

    async def work() -> cProfile.Profile:
        await ask(1, unconditional)
        await ask(50, sent)
        profile = cProfile.Profile()
        profile.enable()
        await ask(500, sent)
        profile.disable()
        return profile

    rows = pstats.Stats(asyncio.run(work())).stats  # type: ignore[attr-defined]
    whole = sum(row[2] for row in rows.values())
    by_place: dict[str, float] = {}
    for (file, _, _), row in rows.items():
        parts = Path(file).parts
        if "site-packages" in parts:
            place = parts[parts.index("site-packages") + 1]
        elif len(parts) < 2:
            place = "built-in functions"
        else:
            place = "ours" if ROOT in Path(file).parents else "standard library"
        by_place[place] = by_place.get(place, 0.0) + row[2]
    most = sorted(by_place.items(), key=lambda item: -item[1])[:5]
    return "own time by package: " + ", ".join(f"{place} {spent / whole:.0%}" for place, spent in most)
