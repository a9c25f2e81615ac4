"""Responses of a backtest: CNY instead of fen, dates instead of positions."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from platform_assets.compute.backtests.days import Days
from platform_assets.compute.backtests.engine import LIMIT_UP, NO_CASH, SUSPENDED, Run, Trade
from platform_assets.compute.backtests.figures import Figures, figures_of
from platform_assets.compute.backtests.ledger import BUY, Fill, Given, fee_table
from platform_assets.compute.backtests.strategies import Strategy
from platform_assets.compute.backtests.validation import Part, Validation

PRICE_BASIS = "signals on adjusted prices, fills at traded prices"
RULES = (
    "Signals at the close, orders at the next open; a purchase that the market does not take is dropped, a "
    "sale waits. Dividends and bonus shares are booked on the ex-date, before tax."
)
_REFUSALS = {
    NO_CASH: "too little money for the smallest order",
    LIMIT_UP: "opened at the upper limit",
    SUSPENDED: "suspended",
}
_FIGURES = tuple(Figures.__dataclass_fields__)


def empty_answer(code: str, name: str | None, capital: float, why: str) -> dict[str, Any]:
    """The response for a code without data to run on."""
    return {
        "code": code, "name": name, "price_basis": PRICE_BASIS, "start_date": None, "end_date": None,
        "initial_capital": round(capital, 2), **dict.fromkeys(_FIGURES), "trades": [], "fills": [],
        "entitlements": [], "equity": [], "fees": fee_table(), "blocked": [], "note": why,
    }  # fmt: skip


def run_answer(run: Run, days: Days, *, unknown_limits: int, lookback: int) -> dict[str, Any]:
    dates = days.date[run.start : run.stop]
    notes = [RULES]
    if len(dates) < lookback:
        notes.append(f"Only {len(dates)} of {lookback} trade dates are stored.")
    notes += _without_a_deal(run)
    if unknown_limits:
        notes.append(f"The price limits of {unknown_limits} days are not known and were not applied.")
    return {
        "price_basis": PRICE_BASIS,
        "start_date": dates[0],
        "end_date": dates[-1],
        "initial_capital": run.capital / 100,
        **figures_answer(figures_of(run, days)),
        "trades": [_trade(trade) for trade in run.trades],
        "fills": [_fill(fill) for fill in run.fills],
        "entitlements": [_entitlement(one) for one in run.given],
        "equity": [
            {"date": day, "value": value / 100} for day, value in zip(dates, run.equity.tolist(), strict=True)
        ],
        "fees": fee_table(),
        "blocked": [{"date": one.day, "side": one.side, "reason": one.reason} for one in run.blocked],
        "note": " ".join(notes),
    }


def _without_a_deal(run: Run) -> list[str]:
    """Why nothing was bought; a return of 0 is then no result."""
    if run.fills:
        return []
    refused = Counter(one.reason for one in run.blocked if one.side == BUY)
    if not refused:
        return ["Nothing was bought: the rule gave no order to buy in this window."]
    reasons = ", ".join(f"{_REFUSALS[reason]} ({count})" for reason, count in refused.most_common())
    reported = f"Nothing was bought: all {sum(refused.values())} purchases were refused: {reasons}."
    if set(refused) == {NO_CASH}:
        reported += f" A capital of {run.capital / 100:.2f} CNY is too small for this stock and rule."
    return [reported]


def figures_answer(figures: Figures) -> dict[str, Any]:
    reported = asdict(figures)
    return {name: round(one, 4) if isinstance(one, float) else one for name, one in reported.items()}


def _trade(trade: Trade) -> dict[str, Any]:
    sold = trade.sold
    return {
        "buy_date": trade.bought.day,
        "buy_price": trade.bought.price / 100,
        "sell_date": None if sold is None else sold.day,
        "sell_price": None if sold is None else sold.price / 100,
        "shares": trade.bought.shares,
        "fees": (trade.bought.fees.total + (0 if sold is None else sold.fees.total)) / 100,
        "entitlements": trade.given / 100,
        "profit": trade.profit / 100,
        "profit_pct": round(trade.profit / trade.cost * 100, 4),
        "reason": trade.reason,
    }


def _fill(one: Fill) -> dict[str, Any]:
    """CNY; a run counts in fen."""
    return {
        "date": one.day, "side": one.side, "price": one.price / 100, "shares": one.shares,
        "amount": one.amount / 100, "commission": one.fees.commission / 100, "stamp": one.fees.stamp / 100,
        "transfer": one.fees.transfer / 100, "cash_after": one.cash / 100, "shares_after": one.held,
    }  # fmt: skip


def _entitlement(one: Given) -> dict[str, Any]:
    return {
        "date": one.day, "cash": one.paid / 100, "shares": one.bonus, "cash_after": one.cash / 100,
        "shares_after": one.held,
    }  # fmt: skip


def validation_answer(found: Validation | None, days: Days, strategy: Strategy) -> dict[str, Any] | None:
    """None when there are too few days to split."""
    if found is None:
        return None

    def part(one: Part) -> dict[str, Any]:
        return {
            "start_date": days.date[one.start],
            "end_date": days.date[one.stop - 1],
            "params": strategy.params(one.periods),
            **figures_answer(one.figures),
        }

    return {
        "in_sample": part(found.in_sample),
        "out_of_sample": part(found.out_of_sample),
        "neighbours": [part(one) for one in found.neighbours],
        "overfit_risk": found.overfit_risk,
    }
