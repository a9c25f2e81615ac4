"""Filled answers have the shape that the document promises."""

from fastapi import APIRouter
from pydantic import TypeAdapter

from serving_api.bonds.routes import router as bonds
from serving_api.earnings import router as earnings
from serving_api.framework.routing import PlatformRoute
from serving_api.funds import fund_router, reit_router
from serving_api.hong_kong.routes import premium_router
from serving_api.hong_kong.routes import router as hong_kong
from serving_api.risk.routes import router as risk
from tests.serving_api.areas.conftest import Topics


def test_every_topic_answers_in_its_documented_shape(topics: Topics) -> None:
    pair = topics.rows("ref_ah_pair")[0]
    asked: tuple[tuple[APIRouter, str], ...] = (
        (risk, topics.rows("raw_risk_goodwill")[0]["code"]),
        (bonds, topics.rows("raw_convertible_bond")[0]["code"]),
        (reit_router, topics.rows("raw_reit")[0]["code"]),
        (fund_router, topics.rows("raw_fund_etf")[0]["code"]),
        (hong_kong, pair["h_code"]),
        (premium_router, pair["a_code"]),
        (earnings, ""),
    )
    for router, code in asked:
        for route in router.routes:
            assert isinstance(route, PlatformRoute)
            path = route.path.removeprefix("/api/v1").replace("{code}", code).replace("{etf_code}", code)
            reported = topics.reported(path)
            TypeAdapter(route.model).validate_python(reported.get("results", reported))
            assert reported
