"""`python -m tests.transport.machine <gap seconds>`: one machine of a deployment, for tests.

Says `ready`; for each line `<tencent|eastmoney> <calls>` it asks the simulated market and says how each call
ended."""

import json
import sys

from core.calendar import shipped_calendar
from core.errors import PlatformError
from resources.composition import market_clock
from resources.fetch_record import FetchLog
from resources.settings import process_settings
from resources.transport.gates import deployment_gate
from resources.transport.settings import TransportSettings
from resources.upstreams.factory import make_clients


def main() -> None:
    settings = process_settings()
    gap = float(sys.argv[1])
    numbers = TransportSettings(tencent_min_interval=gap, em_min_interval=0, em_jitter_min=0, em_jitter_max=0)
    calendar = shipped_calendar()
    gate = deployment_gate(settings, numbers)
    makers, _ = make_clients(settings, market_clock(settings), calendar, gate=gate)
    tencent, eastmoney = (makers[name](FetchLog()) for name in ("tencent", "eastmoney"))
    asks = {
        "tencent": lambda: tencent.quotes(["sh600519"]),
        "eastmoney": lambda: eastmoney.stock_get("sh600519"),
    }
    print("ready", flush=True)
    for line in sys.stdin:
        upstream, calls = line.split()
        ended = []
        for _ in range(int(calls)):
            try:
                asks[upstream]()
                ended.append("answered")
            except PlatformError as error:
                ended.append(type(error).__name__)
        print(json.dumps(ended), flush=True)


main()
