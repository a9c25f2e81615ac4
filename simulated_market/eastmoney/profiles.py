"""Pages of company profiles (emweb PC_HSF10 .../PageAjax), and the list of new shares (RPTA_APP_IPOAPPLY)."""

from datetime import date, timedelta

from simulated_market.companies import Company, Issue, company_of, issue_of
from simulated_market.eastmoney.columns import SHARE, TRADE_MARKETS, identity
from simulated_market.eastmoney.conditions import Conditions
from simulated_market.wire import HttpRequest, Reply, Row, View, json_reply
from simulated_market.world.model import Security

_MARKET_NAMES = {"SH": "上交所主板", "SZ": "深交所主板", "BJ": "北交所"}


def survey(request: HttpRequest, view: View) -> Reply:
    """CompanySurvey/PageAjax; empty lists for a company that is not there."""
    found = _asked(request, view)
    if found is None:
        return json_reply({"jbzl": [], "fxxg": []})
    rows = [_register(found)]
    return json_reply({"jbzl": rows, "fxxg": [_issue(found.security, issue_of(view, found.security))]})


def business(found: Company | None) -> list[Row]:
    """The part `zyfw` of BusinessAnalysis/PageAjax."""
    return [] if found is None else [{**identity(found.security), "BUSINESS_SCOPE": found.business}]


def controllers(found: Company | None) -> list[Row]:
    """The part `sjkzr` of ShareholderResearch/PageAjax."""
    return [] if found is None else [{**identity(found.security), "HOLDER_NAME": found.controller}]


def holders_page(request: HttpRequest, view: View) -> Reply:
    return json_reply({"sjkzr": controllers(_asked(request, view))})


def offers(view: View, conditions: Conditions) -> list[Row]:
    """Stocks that were listed within the last year."""
    newest = view.now.date() - timedelta(days=365)
    since = int(newest.strftime("%Y%m%d"))
    listed = [one for one in view.world.securities(view.now) if one.kind == "stock" and one.list_date > since]
    return [_offer(view, one, issue_of(view, one)) for one in listed]


def _asked(request: HttpRequest, view: View) -> Company | None:
    security = view.world.find(request.params().get("code", "").lower())
    return None if security is None else company_of(view, security)


def _register(one: Company) -> Row:
    return {
        **identity(one.security, one.name), "ORG_NAME": one.full_name, "STR_CODEA": one.security.code,
        "TRADE_MARKET": _MARKET_NAMES[one.security.market], "INDUSTRYCSRC1": one.industry,
        "EM2016": one.industry, "PRESIDENT": one.president, "LEGAL_PERSON": one.legal_person,
        "SECRETARY": one.secretary, "CHAIRMAN": one.chairman, "ORG_TEL": one.phone, "ORG_WEB": one.website,
        "ADDRESS": one.address, "REG_CAPITAL": round(one.capital / 1e4, 6), "EMP_NUM": one.employees,
        "ORG_PROFILE": f"    {one.profile}", "BUSINESS_SCOPE": one.scope,
    }  # fmt: skip


def _issue(security: Security, one: Issue) -> Row:
    return {
        **identity(security), "FOUND_DATE": _day(one.founded), "LISTING_DATE": _day(one.listed),
        "AFTER_ISSUE_PE": one.pe, "ONLINE_ISSUE_DATE": _day(one.applied),
        "ISSUE_WAY": "网下询价发行,网上定价发行", "PAR_VALUE": 1,
        "TOTAL_ISSUE_NUM": one.shares, "ISSUE_PRICE": one.price,
        "DEC_SUMISSUEFEE": round(one.funds * 0.08, 2), "TOTAL_FUNDS": one.funds,
        "NET_RAISE_FUNDS": round(one.funds * 0.92, 2), "OPEN_PRICE": one.first_open,
        "CLOSE_PRICE": one.first_close, "TURNOVERRATE": one.first_turnover,
    }  # fmt: skip


def _offer(view: View, security: Security, one: Issue) -> Row:
    most = max(500, one.shares // 10_000)
    return {
        **identity(security),
        "SECURITY_NAME": view.world.name(security, view.now),
        "TRADE_MARKET_CODE": TRADE_MARKETS[security.board][0],
        "APPLY_CODE": security.code,
        "APPLY_DATE": _day(one.applied),
        "ISSUE_PRICE": one.price,
        "PREDICT_ISSUE_PRICE": None,
        "LISTING_DATE": _day(one.listed),
        "BALLOT_NUM_DATE": _day(one.applied + timedelta(days=1)),
        "BALLOT_PAY_DATE": _day(one.applied + timedelta(days=2)),
        "ONLINE_APPLY_UPPER": most,
        "TOP_APPLY_MARKETCAP": most / 1000,  # 10k CNY of shares held for each thousand
        "SECURITY_TYPE_CODE": SHARE,
        "MARKET": _MARKET_NAMES[security.market],
    }


def _day(day: date) -> str:
    return f"{day.isoformat()} 00:00:00"
