"""/datamgr/contracts: admin, enveloped."""

from enum import StrEnum
from typing import Annotated

from fastapi import Path, Query

from serving_api.admin.contracts import schemas, service
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router

router = area_router(f"{PREFIX}/datamgr/contracts", "datamgr: contracts")


class ContractLayer(StrEnum):
    raw = "raw"
    stg = "stg"
    ref = "ref"
    dwd = "dwd"
    calc = "calc"


@router.get("", list[schemas.ContractItem], top=[("total", int)])
async def contracts(
    call: Admin,
    layer: Annotated[ContractLayer | None, Query(description="only datasets with a table in it")] = None,
) -> Answer:
    """Every dataset: its tables, when it is loaded, and its status."""
    return Answer(await service.contracts(call.state, None if layer is None else layer.value))


@router.get("/{dataset}", schemas.Contract, raises=(404,))
async def contract(
    call: Admin,
    dataset: Annotated[str, Path(max_length=64, description="name of a dataset", examples=["margin"])],
) -> Answer:
    """The contract of one dataset: schema, units, sources, fusion, freshness, retention, completeness."""
    return Answer(await service.contract(call.state, dataset))
