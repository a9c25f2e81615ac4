"""What reads cost where no old years are, and where they are."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

from serving_api.db.sessions import Reading
from tests.serving_api import market

ROOT = Path(__file__).parents[2]
ASK = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from resources.settings import Settings
from serving_api.app import create_app
from tests.serving_api import market
folder = Path(sys.argv[1])
url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
warehouse = market.open_warehouse(url, folder)
warehouse.migrate()
market.fill(warehouse)
with TestClient(create_app(Settings(data_dir=str(folder), warehouse_url=url))) as client:
    assert client.get("/api/v1/stocks/600519/kline").json()["results"]
print("deltalake" in sys.modules)
"""


def test_without_old_years_a_read_loads_no_library_of_theirs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["False"], done.stderr[-2000:]


def test_where_old_years_are_no_read_holds_up_the_others(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'warehouse.sqlite3'}"
    warehouse = market.open_warehouse(url, tmp_path, lake_url=tmp_path / "lake")
    warehouse.migrate()
    reading = Reading(warehouse)

    def on_the_loop() -> bool:
        async def read() -> bool:
            return await reading.point(lambda _: threading.get_ident()) == threading.get_ident()

        return asyncio.run(read())

    assert on_the_loop(), "a point read without them is faster than a hand-over"
    (tmp_path / "lake_old_years").mkdir()
    assert not on_the_loop()
    reading.close()
