"""/datamgr/fusion/market/northbound: the newest day of the stock connect by channel; admin, enveloped."""

from pydantic import BaseModel

from core.market.stock_connect import CHANNELS, UNDISCLOSED_FROM, is_hidden
from platform_assets.datasets.northbound import Northbound
from resources.warehouse.stored import stored
from serving_api.db.sessions import Session
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.read_failures import read_or
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import with_columns

TABLE = stored("raw_northbound", Northbound)
UNDISCLOSED = f"北向资金买卖与净额自 {UNDISCLOSED_FROM} 起不再披露"

router = area_router(f"{PREFIX}/datamgr/fusion/market", "datamgr: fused data")


@with_columns(
    Northbound.channel, Northbound.trade_date.label("date"), Northbound.net_buy, Northbound.buy_amt,
    Northbound.sell_amt, Northbound.deal_amt,
)  # fmt: skip
class Channel(BaseModel):
    """10k CNY; of the southbound channels (ggt_sh, ggt_sz) 10k HKD."""

    note: str | None = None


@router.get("/northbound", response_model=list[Channel])
@serves(tables=(TABLE,), cache=NO_STORE)
async def northbound(call: Admin) -> Answer:
    """The newest row of every channel; undisclosed values are null, never 0."""
    return Answer(await read_or([], call.state.reading.point(newest_of_channels)))


def newest_of_channels(session: Session) -> list[Channel]:
    """Each channel that has rows."""
    found = []
    for channel in CHANNELS:
        for row in session.dicts(
            TABLE, TABLE.c.channel == channel, order=[TABLE.c.trade_date.desc()], limit=1
        ):
            note = {"note": UNDISCLOSED} if is_hidden(channel, row["trade_date"]) else {}
            found.append(Channel.model_validate({**row, **note}))
    return found
