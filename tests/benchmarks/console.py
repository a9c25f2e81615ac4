"""The console in a headless Chromium without a GPU, over recorded answers: what the first view of a stock
costs beside an empty page, ten years of candles under the mouse, and a map of 5,500 stocks."""

import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.measure import Figure, at_most
from tests.console.opened import ARGUMENTS, CHROMIUM, CODE, answer_recorded, opened
from tests.serving_api import market
from tests.serving_api.conftest import Ticks, make_app

ROUNDS = 3
BARS = 2430
INDUSTRIES, STOCKS = 86, 5500
FRAMES_PER_S = 30
DRAG_S = 3.0
_FRAMES = "window.frames_drawn = 0; (function one() { frames_drawn += 1; requestAnimationFrame(one); })()"


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as site, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield from first_view(browser, site)
        yield candles(browser, site)
        yield from treemap(browser, site)
        browser.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Address of the app over the small market."""
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, folder)
    warehouse.migrate()
    market.fill(warehouse)
    config = uvicorn.Config(make_app(url, folder, Ticks()), host="127.0.0.1", port=0, log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    warehouse.close()


def first_view(browser: Browser, site: str) -> Iterator[Figure]:
    """Of a profile that keeps nothing yet. The empty page has the same frame and no panel."""
    full: list[float] = []
    empty: list[float] = []
    sizes: list[tuple[int, int]] = []
    for _ in range(ROUNDS):
        for times, path in ((full, f"stock/{CODE}"), (empty, "nowhere")):
            with opened(browser, gone=True) as one:
                answer_recorded(one.page)
                arrived: list[float] = []
                wire = one.page.context.new_cdp_session(one.page)
                wire.on(
                    "Network.loadingFinished", lambda event, to=arrived: to.append(event["encodedDataLength"])
                )
                wire.send("Network.enable")
                began = time.perf_counter()
                one.page.goto(f"{site}/console/{path}")
                one.ready()
                times.append(time.perf_counter() - began)
                sizes.append((len(one.asked), round(sum(arrived))))
    pages = (sizes[0], sizes[1])
    yield at_most(
        "console: stock page until no panel waits, vs an empty page",
        statistics.median(full), statistics.median(empty), None, "the frame of the page is in both",
    )  # fmt: skip
    text, bare = (f"{count} requests, {bytes_ / 1e6:.2f} MB" for count, bytes_ in pages)
    note = "1.5 MB of it is Plotly, which a browser keeps for a year; answers of the API are recorded ones"
    yield Figure(
        "console: first view of a stock, vs an empty page",
        text,
        bare,
        pages[0][1] / max(1, pages[1][1]),
        None,
        note=note,
    )


def candles(browser: Browser, site: str) -> Figure:
    """Frames while the mouse drags ten years of candles to and fro."""
    rng = random.Random(1)
    days = [str(one) for one in _days(BARS)]
    price, bars = 20.0, []
    for day in days:
        price = max(1.0, price * (1 + rng.gauss(0, 0.02)))
        bars.append(
            {"date": day, "open": price * 0.99, "close": price, "high": price * 1.02, "low": price * 0.98}
            | {"volume": 1e6, "amount": 1e7}
        )

    def longer(answer: Any) -> Any:
        rows = answer.get("results")
        if isinstance(rows, list) and rows and "open" in rows[0]:
            answer["results"] = bars
        return answer

    with opened(browser, gone=True) as one:
        answer_recorded(one.page, longer)
        one.page.goto(f"{site}/console/stock/{CODE}")
        one.ready()
        box = one.page.locator("#candles-body").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + 150
        one.page.mouse.move(x, y)
        one.page.mouse.down()
        one.page.evaluate(_FRAMES)
        began, at = time.perf_counter(), 0
        while time.perf_counter() - began < DRAG_S:
            at += 1
            one.page.mouse.move(x + 200 * (at % 40 - 20) / 20, y)
        rate = one.page.evaluate("() => frames_drawn") / (time.perf_counter() - began)
        one.page.mouse.up()
    figure, target = (f"{value:.0f} frames/s" for value in (rate, FRAMES_PER_S))
    return Figure(f"console: {BARS} candles dragged", figure, target, rate / FRAMES_PER_S, 1.0)


def _days(count: int) -> list[Any]:
    from core.calendar import shipped_calendar

    return list(shipped_calendar().last(count, market.TODAY))


def treemap(browser: Browser, site: str) -> Iterator[Figure]:
    """From the navigation until the map is drawn, and an update of the colours of all stocks."""
    tree = json.dumps({"items": _tree(), "timestamp": "2026-11-25T15:00:00+08:00", "_source": "made"})
    loads: list[float] = []
    updates: list[float] = []
    for _ in range(ROUNDS):
        with opened(browser, gone=True) as one:
            page = one.page
            answer_recorded(page, of="market")
            page.route("**/realtime/stream", lambda route: route.abort())
            page.route(
                "**/sector-treemap*", lambda route: route.fulfill(body=tree, content_type="application/json")
            )
            began = time.perf_counter()
            page.goto(f"{site}/console/market")
            page.wait_for_function("() => document.querySelector('canvas.treemap')?.width > 300")
            loads.append(time.perf_counter() - began)
            one.ready()
            updates.append(_redrawn(page, tree))
    yield at_most(
        f"console: map of {STOCKS} stocks, from the navigation on", statistics.median(loads), 1.0, 1.5
    )
    yield at_most("console: colours of all its stocks drawn anew", statistics.median(updates), 0.2, 1.0)


def _redrawn(page: Page, tree: str) -> float:
    """Median seconds from new values to the painted frame."""
    module = page.evaluate("() => document.querySelector('script[src$=\"market.js\"]').src")
    taken = page.evaluate(
        """async ([source, text]) => {
          const { Treemap } = await import(new URL("treemap.js", source));
          const target = document.createElement("div");
          target.style.cssText = "position:relative;width:1240px;height:560px";
          document.querySelector("main").prepend(target);
          const words = { label: "x", describe: () => "", change: (one) => String(one.change_percent) };
          const map = new Treemap(target, words, () => {});
          const groups = JSON.parse(text).items;
          map.show(groups);
          const frame = () => new Promise(requestAnimationFrame);
          const painted = async () => { await frame(); await frame(); };
          const moved = (cell) => ({ ...cell, change_percent: cell.change_percent + Math.random() - 0.5 });
          await painted();
          const times = [];
          for (let at = 0; at < 15; at += 1) {
            const newer = groups.map((one) => ({ ...one, children: one.children.map(moved) }));
            const began = performance.now();
            map.show(newer);
            await painted();
            times.push(performance.now() - began);
          }
          return times.sort((a, b) => a - b)[7];
        }""",
        [module, tree],
    )
    return float(taken) / 1000


def _tree() -> list[dict[str, Any]]:
    """Industries with stocks whose caps are spread as those of a market are."""
    rng = random.Random(7)
    groups: list[dict[str, Any]] = []
    for place in range(INDUSTRIES):
        children: list[dict[str, Any]] = [
            {
                "code": f"{number:06d}",
                "name": f"公司{number:04d}",
                "value": round(rng.paretovariate(1.1) * 20, 2),
                "change_percent": round(rng.gauss(0, 2.4), 2),
            }
            for number in range(place, STOCKS, INDUSTRIES)
        ]
        children.sort(key=lambda row: -row["value"])
        groups.append(
            {"code": f"BK{place:04d}", "name": f"行业{place}", "change_percent": 0.5, "amount": 1e9}
            | {
                "main_net": None,
                "value": round(sum(row["value"] for row in children), 2),
                "children": children,
            }
        )
    return sorted(groups, key=lambda row: -row["value"])
