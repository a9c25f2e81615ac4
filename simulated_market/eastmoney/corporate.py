"""Reports of companies as the data centre has them: holder counts, dividends, trades of executives,
visits and holdings of institutions."""

from simulated_market import corporate, insiders, institutions
from simulated_market.corporate import HolderCount, Payout
from simulated_market.eastmoney.columns import secucode
from simulated_market.eastmoney.conditions import Maker, NewestRows, of_stocks
from simulated_market.insiders import Trade, Visit
from simulated_market.institutions import OrgHolding
from simulated_market.wire import Row, View
from simulated_market.world.dates import stamp_of

_PROGRESS = {"plan": "董事会预案", "decided": "股东大会决议", "implemented": "实施分配"}
_CHANGES = {1: "增持", 0: "不变", -1: "减持"}
_AFTER_TAX = 0.9


def reports() -> dict[str, Maker]:
    """Rows by the name of the report."""
    cached = NewestRows().cached
    return {
        "RPT_HOLDERNUM_DET": cached(of_stocks(corporate.holder_counts, holder_row, "HOLD_NOTICE_DATE")),
        "RPT_SHAREBONUS_DET": cached(
            of_stocks(corporate.payouts, lambda one, _: payout_row(one), "NOTICE_DATE")
        ),
        "RPT_EXECUTIVE_HOLD_DETAILS": cached(of_stocks(insiders.trades, trade_row)),
        "RPT_ORG_SURVEYNEW": cached(of_stocks(insiders.visits, lambda one, _: visit_row(one), "NOTICE_DATE")),
        "RPT_MAIN_ORGHOLD": cached(
            of_stocks(institutions.holdings, lambda one, _: holding_row(one), "REPORT_DATE")
        ),
    }


def holder_row(one: HolderCount, view: View) -> Row:
    """RPT_HOLDERNUM_DET: shares per holder, CNY, percent."""
    change = None if one.before is None else one.holders - one.before
    worth = None if one.close is None else round(one.a_shares * one.close, 2)
    return {
        "SECURITY_CODE": one.security.code,
        "SECURITY_NAME_ABBR": view.world.name(one.security, view.now),
        "CHANGE_SHARES": None,
        "CHANGE_REASON": None,
        "END_DATE": stamp_of(one.date),
        "INTERVAL_CHRATE": None if one.interval_pct is None else round(one.interval_pct, 8),
        "AVG_MARKET_CAP": None if worth is None else round(worth / one.holders, 8),
        "AVG_HOLD_NUM": round(one.a_shares / one.holders, 10),
        "TOTAL_MARKET_CAP": worth,
        "TOTAL_A_SHARES": one.a_shares,
        "HOLD_NOTICE_DATE": stamp_of(one.announced),
        "HOLDER_NUM": one.holders,
        "PRE_HOLDER_NUM": one.before,
        "HOLDER_NUM_CHANGE": change,
        "HOLDER_NUM_RATIO": round(change / one.before * 100, 12)
        if change is not None and one.before
        else None,
        "PRE_END_DATE": None if one.before_date is None else stamp_of(one.before_date),
    }


def payout_row(one: Payout) -> Row:
    """RPT_SHAREBONUS_DET: per 10 shares, the yield a fraction; no ex-day before the implementation."""
    known = one.stage == "implemented"
    both = one.bonus + one.transfer
    return {
        "SECUCODE": secucode(one.security),
        "SECURITY_NAME_ABBR": one.name,
        "SECURITY_CODE": one.security.code,
        "BONUS_IT_RATIO": both or None,
        "BONUS_RATIO": one.bonus or None,
        "IT_RATIO": one.transfer or None,
        "PRETAX_BONUS_RMB": one.cash or None,
        "PLAN_NOTICE_DATE": stamp_of(one.planned),
        "EQUITY_RECORD_DATE": stamp_of(one.record) if known else None,
        "EX_DIVIDEND_DATE": stamp_of(one.ex_day) if known else None,
        "REPORT_DATE": stamp_of(one.period),
        "ASSIGN_PROGRESS": _PROGRESS[one.stage],
        "IMPL_PLAN_PROFILE": plan_text(one),
        "NOTICE_DATE": stamp_of(one.noticed),
        "DIVIDENT_RATIO": round(one.cash / 10 / one.price, 12) if one.price and one.cash else None,
        "TOTAL_SHARES": one.total_shares,
        "BASIC_EPS": one.eps,
    }


def trade_row(one: Trade, view: View) -> Row:
    """RPT_EXECUTIVE_HOLD_DETAILS: the ratio in percent of all shares."""
    total, _ = view.world.shares(one.security, view.now)
    return {
        "SECURITY_CODE": one.security.code,
        "SECURITY_NAME": view.world.name(one.security, view.now),
        "CHANGE_DATE": stamp_of(one.date),
        "PERSON_NAME": one.person,
        "DSE_PERSON_NAME": one.person,
        "POSITION_NAME": one.title,
        "PERSON_DSE_RELATION": one.relation,
        "CHANGE_SHARES": one.shares,
        "AVERAGE_PRICE": one.price,
        "CHANGE_AMOUNT": round(one.shares * one.price, 2),
        "CHANGE_REASON": "竞价交易",
        "CHANGE_RATIO": round(abs(one.shares) / total * 100, 4) if total else None,
        "CHANGE_AFTER_HOLDNUM": one.held,
        "BEGIN_HOLD_NUM": one.held - one.shares,
        "END_HOLD_NUM": one.held,
        "HOLD_TYPE": "A股",
    }


def visit_row(one: Visit) -> Row:
    """RPT_ORG_SURVEYNEW: numbers of visitors are texts."""
    return {
        "SECURITY_CODE": one.security.code,
        "SECURITY_NAME_ABBR": one.name,
        "NOTICE_DATE": stamp_of(one.announced),
        "RECEIVE_START_DATE": stamp_of(one.date),
        "RECEIVE_END_DATE": None,
        "RECEIVE_OBJECT": one.visitor,
        "ORG_TYPE": one.kind,
        "RECEIVE_PLACE": "公司会议室",
        "RECEIVE_WAY_EXPLAIN": "特定对象调研",
        "RECEPTIONIST": one.receiver,
        "INVESTIGATORS": None,
        "NUM": one.visitors,
        "SUM": one.visitors,
        "NUMBERNEW": str(one.number),
        "IS_SOURCE": "1",
        "CONTENT": one.content,
        "URL": None,
    }


def holding_row(one: OrgHolding) -> Row:
    """RPT_MAIN_ORGHOLD: ratios in percent."""
    return {
        "SECURITY_CODE": one.security.code, "REPORT_DATE": stamp_of(one.period), "ORG_TYPE": one.kind,
        "HOULD_NUM": one.institutions, "TOTAL_SHARES": one.shares, "HOLD_VALUE": one.value,
        "FREESHARES_RATIO": round(one.shares / one.float_shares * 100, 8),
        "TOTALSHARES_RATIO": round(one.shares / one.total_shares * 100, 8),
        "HOLDCHA": "新进" if one.change is None else _CHANGES[(one.change > 0) - (one.change < 0)],
        "HOLDCHA_NUM": one.change,
    }  # fmt: skip


def plan_text(one: Payout) -> str:
    """10送2股转3股派0.5元(含税,扣税后0.45元)."""
    parts = [f"送{one.bonus:g}股"] if one.bonus else []
    parts += [f"转{one.transfer:g}股"] if one.transfer else []
    if one.cash:
        parts.append(f"派{one.cash:g}元(含税,扣税后{round(one.cash * _AFTER_TAX, 4):g}元)")
    return "10" + "".join(parts)
