"""Response models of the backtests."""

from pydantic import BaseModel, Field

from serving_api.framework.openapi import IsoDate
from serving_api.framework.row_models import StoredRow


class FeeRule(BaseModel):
    """A dated fee: percent of the amount, at least `minimum` CNY."""

    component: str = Field(description="commission, stamp or transfer")
    side: str = Field(description="buy, sell or both")
    pct: float
    minimum: float
    valid_from: str
    valid_to: str | None = Field(description="null: in force")


class Trade(BaseModel):
    """A purchase and its sale; without a sale it is valued at the last close."""

    buy_date: IsoDate
    buy_price: float = Field(description="CNY as traded")
    sell_date: IsoDate | None
    sell_price: float | None
    shares: int = Field(description="bought; bonus shares are sold with them")
    fees: float = Field(description="CNY, of both sides")
    entitlements: float = Field(description="CNY paid on the shares in between")
    profit: float = Field(description="CNY after fees")
    profit_pct: float = Field(description="of the cost with fees")
    reason: str = Field(description="reason of the sale: signal or stop; open while it is still held")


class Deal(BaseModel):
    """One side of a trade, with the account after it. CNY."""

    date: IsoDate
    side: str
    price: float
    shares: int
    amount: float
    commission: float
    stamp: float
    transfer: float
    cash_after: float
    shares_after: int


class Entitlement(BaseModel):
    """Dividends and bonus shares of the held shares on an ex-date, before tax."""

    date: IsoDate
    cash: float
    shares: int
    cash_after: float
    shares_after: int


class EquityPoint(BaseModel):
    date: IsoDate
    value: float = Field(description="cash and shares at the close, CNY")


class BlockedOrder(BaseModel):
    """An order that was not filled on a date. A purchase is then dropped, a sale is tried again on the
    next date."""

    date: IsoDate
    side: str
    reason: str = Field(description="limit_up, limit_down, suspended or insufficient_cash")


class Figures(BaseModel):
    """Percent unless the name says otherwise; null when there is too little data for a figure."""

    final_capital: float | None = Field(description="CNY")
    total_return_pct: float | None
    annual_return_pct: float | None = Field(description="annualised with 243 trade dates a year")
    benchmark_return_pct: float | None = Field(description="buy and hold of the stock, dividends included")
    max_drawdown_pct: float | None = Field(description="zero or negative")
    sharpe: float | None = Field(description="of daily returns, riskless rate 0, annualised")
    win_rate_pct: float | None = Field(description="of the sold trades")
    profit_factor: float | None = Field(description="sum of profits / sum of losses; null without a loss")
    turnover: float | None = Field(description="bought and sold CNY / mean equity")
    trade_count: int | None


class _Backtest(Figures):
    code: str
    name: str | None
    price_basis: str
    start_date: IsoDate | None
    end_date: IsoDate | None
    initial_capital: float
    trades: list[Trade]
    fills: list[Deal] = Field(description="every trade: cash, shares and fees add up to the cent")
    entitlements: list[Entitlement]
    equity: list[EquityPoint]
    fees: list[FeeRule]
    blocked: list[BlockedOrder]
    note: str


class StopBacktest(_Backtest):
    """The trailing stop over the newest trade dates of a stock; [] and null for an unknown code."""

    profile: str
    atr_period: int
    atr_multiple: float


class Sample(Figures):
    start_date: IsoDate
    end_date: IsoDate
    params: dict[str, int]


class Validation(BaseModel):
    """The first 70 % of the dates against the rest, and the parameters a fifth shorter and longer."""

    in_sample: Sample
    out_of_sample: Sample
    neighbours: list[Sample]
    overfit_risk: bool | None = Field(description="out-of-sample Sharpe below half of the in-sample one")


class StrategyBacktest(_Backtest):
    """A strategy over the newest trade dates of a stock; [] and null for an unknown code."""

    strategy: str
    params: dict[str, int]
    validation: Validation | None = Field(default=None, description="with validate=true")


class StyleItem(BaseModel):
    key: str
    name: str
    atr_period: int
    atr_multiple: float
    breakout_bars: int = Field(description="a close above the highest high of this many bars is the entry")
    risk_pct: float = Field(description="share of the equity that a trade may lose at its first stop")
    position_pct: float = Field(description="share of the equity that a position may take")
    description: str


class StyleList(BaseModel):
    items: list[StyleItem]


class PeriodItem(StoredRow):
    name: str
    default: int
    min: int = Field(validation_alias="least")
    max: int = Field(validation_alias="most")


class StrategyItem(StoredRow):
    key: str
    name: str
    params: list[PeriodItem] = Field(validation_alias="periods")
    description: str


class StrategyList(BaseModel):
    items: list[StrategyItem]
