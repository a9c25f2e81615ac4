"""Company profiles, fusion_stock_profile: register data, issue, business and former names.

The portal's pages are of one company each. A run asks for the companies that something happened to and for
those whose turn it is (see `_rotation`), never for all.
"""

import pandas as pd

from core.days import moved
from core.declaration import columns as t
from core.declaration import rules
from core.declaration.columns import Model, Received, col, key, with_columns
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, batch, latest, stock
from core.declaration.scope import Context, Scope
from platform_assets.datasets._rotation import MOST_EVENT_CODES, ROTATION, codes_in_turn
from resources.upstreams.fetch_context import FetchContext

_KEY = ["code"]
_NOT_REPORTED = "no documented field"
_OFFER_DAYS = 60
_NEW_FOR_DAYS = 30
_REGION = "板块"
_LONGEST = 255
_FIRST_DAY = (0.3, 40.0)
"""First close / issue price beyond which one of them is wrong."""
_ISSUED = ("issue_pe", "issue_shares", "raised_funds", "first_day_change_pct", "issue_date", "list_date")


class StockProfile(Model):
    """One company."""

    code: t.Code = key("security code")
    full_name: t.S128 = col(title="registered name")
    name_en: t.S255 = col(title="English name", no_source=_NOT_REPORTED)
    former_names: t.S255 = col(title="names before the present one, oldest first", computed=True)
    established_date: t.Date = col(title="date of foundation")
    list_date: t.Date = col(title="listing date")
    issue_price: t.Px = col("CNY", "issue price", gt=0)
    issue_pe: t.F = col("", "price / earnings at the issue")
    issue_shares: t.Big = col("sh", "shares issued", gt=0)
    raised_funds: t.Amt = col("CNY", "funds raised", gt=0)
    registered_capital: t.Amt = col("CNY", "registered capital")
    legal_rep: t.S64 = col(title="legal representative")
    chairman: t.S64 = col(title="chairman")
    general_manager: t.S64 = col(title="general manager")
    secretary: t.S64 = col(title="secretary of the board")
    employees: t.Int = col("", "employees")
    province: t.S32 = col(title="region board of the portal")
    city: t.S32 = col(title="city", no_source=_NOT_REPORTED)
    reg_address: t.S255 = col(title="registered address")
    office_address: t.S255 = col(title="office address", no_source=_NOT_REPORTED)
    website: t.S255 = col(title="website; null where it is not http(s)")
    email: t.S128 = col(title="e-mail", no_source=_NOT_REPORTED)
    phone: t.S64 = col(title="telephone")
    main_business: t.Text = col(title="main business")
    business_scope: t.Text = col(title="business scope as registered")
    intro: t.Text = col(title="introduction")
    controller: t.S128 = col(title="actual controller")
    controller_type: t.S32 = col(title="kind of the controller", no_source=_NOT_REPORTED)
    auditor: t.S128 = col(title="auditor", no_source=_NOT_REPORTED)


@with_columns(
    StockProfile.code, Received.src, StockProfile.full_name, StockProfile.name_en,
    StockProfile.established_date, StockProfile.registered_capital, StockProfile.legal_rep,
    StockProfile.chairman, StockProfile.general_manager, StockProfile.secretary, StockProfile.employees,
    StockProfile.province, StockProfile.city, StockProfile.reg_address, StockProfile.website,
    StockProfile.phone, StockProfile.main_business, StockProfile.business_scope, StockProfile.intro,
    StockProfile.controller, "csrc_industry",
)  # fmt: skip
class AuxProfile(Model):
    """One company as one upstream describes it."""

    csrc_industry: t.S64 = col(title="regulator's industry")


@with_columns(
    StockProfile.code, Received.src, StockProfile.list_date, "issue_date", StockProfile.issue_price,
    StockProfile.issue_pe, StockProfile.issue_shares, StockProfile.raised_funds, "underwriter",
    "lottery_rate_pct", "first_day_change_pct",
)  # fmt: skip
class RawIssueInfo(Model):
    """The issue of one company's shares."""

    issue_date: t.Date = col(title="date of the online issue")
    issue_pe: t.F = col("", "price / earnings after the issue")
    underwriter: t.S255 = col(title="underwriter", no_source=_NOT_REPORTED)
    lottery_rate_pct: t.Pct = col("pct", "success rate of applications", no_source=_NOT_REPORTED)
    first_day_change_pct: t.Pct = col("pct", "close of the first day against the issue price")


# -- sources ----------------------------------------------------------------------------------------


def portal_pages(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Three calls a company: register data, main business, controller."""

    def of(symbol: str) -> pd.DataFrame:
        found = _survey(ctx, symbol)
        if found.empty:
            return found
        business = ctx.eastmoney.main_business(symbol)
        return found.assign(main_business=business, controller=ctx.eastmoney.controller(symbol))

    rows = stacked(ctx.each(of, _symbols_due(ctx, scope), pages=True), _KEY)
    return rows.assign(province=rows["code"].map(_provinces(ctx))) if len(rows) else rows


def terminal_text(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The section 公司概况 of the terminal's text: name, region and main business, two calls a company."""
    return stacked(ctx.each(ctx.tdx.company_profile, _symbols_due(ctx, scope)), _KEY)


def portal_issues(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """New shares from the list of offers, one call; the page of each company that was listed of late, and of
    those whose profile is known while their issue is not (as many as the pages that a day's load reads
    anyway)."""
    if scope.codes is not None:
        return _issues(ctx, ctx.symbols(scope.codes, "stock"))
    since = ctx.calendar.offset(scope.until, -_OFFER_DAYS)
    offered = ctx.eastmoney.offers(since, ctx.today).rename(columns={"apply_date": "issue_date"})
    paged = _issues(ctx, _without_issue(ctx, scope))
    reported = set(paged["code"]) if len(paged) else set()
    return pd.concat([offered[~offered["code"].isin(list(reported))], paged], ignore_index=True)


def terminal_issues(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Listing dates in the terminal's text."""
    symbols = ctx.symbols(scope.codes, "stock") if scope.codes is not None else _without_issue(ctx, scope)
    rows = stacked(ctx.each(ctx.tdx.company_profile, symbols), _KEY)
    return rows[["code", "list_date"]] if len(rows) else rows


def _survey(ctx: FetchContext, symbol: str) -> pd.DataFrame:
    """The page that both tables read, once a run."""
    return ctx.once(("company_survey", symbol), lambda view: view.eastmoney.company_survey(symbol))


def _issues(ctx: FetchContext, symbols: list[str]) -> pd.DataFrame:
    rows = stacked(ctx.each(lambda symbol: _survey(ctx, symbol), symbols), _KEY)
    return rows[["code", "issue_price", *_ISSUED]] if len(rows) else rows


def _provinces(ctx: FetchContext) -> dict[str, str]:
    """Region of each stock, from the boards that are stored."""
    boards = ctx.read("raw_concept_blocks", columns=("code", "block_name", "block_type"))
    regions = boards[boards["block_type"] == "region"].drop_duplicates("code")
    names = regions["block_name"].str.removesuffix(_REGION)
    return dict(zip(regions["code"], names, strict=True))


def _symbols_due(ctx: FetchContext, scope: Scope) -> list[str]:
    """Symbols of the scope's codes; of the market those that were listed or took another name in the days of
    the scope, and the hundred whose turn it is."""
    if scope.codes is not None:
        return list(ctx.symbols(scope.codes, "stock"))
    since, until = scope.event_days(ctx.calendar)
    names = ctx.read("ref_name_history", columns=("code", "valid_from"))
    renamed = names[(names["valid_from"] >= since) & (names["valid_from"] <= until)]
    events = [*_listed_since(ctx, since, until), *sorted(renamed["code"])]
    return _symbols(ctx, [*events[:MOST_EVENT_CODES], *codes_in_turn(ctx, scope)])


def _listed_since(ctx: FetchContext, since: str, until: str) -> list[str]:
    """Stocks that were listed in some days, newest first."""
    listed = ctx.read("fusion_stock_master", columns=("code", "list_date", "sec_type"))
    days = listed["list_date"].fillna("")
    young = listed[(listed["sec_type"] == "stock") & (days >= since) & (days <= until)]
    return [str(code) for code in young.sort_values(["list_date", "code"], ascending=[False, True])["code"]]


def _without_issue(ctx: FetchContext, scope: Scope) -> list[str]:
    """Symbols of stocks that were listed of late, or have a profile, and whose issue is not known."""
    stored = ctx.read("raw_issue_info", columns=("code", "issue_shares"))
    reported = set(stored[stored["issue_shares"].notna()]["code"])
    late = [
        code
        for code in _listed_since(ctx, moved(scope.until, -_NEW_FOR_DAYS), scope.until)
        if code not in reported
    ]
    profiles = ctx.read("aux_profile", columns=("code",))
    rest = sorted(set(profiles["code"]) - set(stored["code"]))
    return _symbols(ctx, [*late, *rest])[: MOST_EVENT_CODES + ROTATION]


def _symbols(ctx: FetchContext, codes: list[str]) -> list[str]:
    """Symbols of some stocks, once each; codes that the universe does not have are left out."""
    universe = {symbol[2:]: symbol for symbol in ctx.symbols(None, "stock")}
    return [universe[code] for code in dict.fromkeys(codes) if code in universe]


# -- staging, derivation and checks -------------------------------------------------------------------


def from_issues(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The issues without shares that are offered but not listed yet."""
    master = context.read("fusion_stock_master", columns=("code",))
    return rows[rows["code"].isin(list(master["code"]))]


def add_former_names(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Names whose span has ended, as the terminal's list cuts them."""
    spans = context.read("ref_name_history", columns=("code", "valid_from", "valid_to", "name"))
    ended = spans[spans["valid_to"].notna() & spans["code"].isin(list(rows["code"]))]
    current = spans[spans["valid_to"].isna()].drop_duplicates("code")
    shown = dict(zip(current["code"], current["name"], strict=True))
    known: dict[str, list[str]] = {}
    for code, name in ended.sort_values(["code", "valid_from"])[["code", "name"]].itertuples(index=False):
        if name != shown.get(code) and name not in known.setdefault(code, []):
            known[code].append(str(name))
    joined = {code: "、".join(names)[:_LONGEST] for code, names in known.items() if names}
    rows["former_names"] = rows["code"].map(joined)
    return rows


def is_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The security master has the code."""
    master = context.read("fusion_stock_master", columns=("code",))
    return rows["code"].isin(list(master["code"]))


def has_a_name(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["full_name"].str.len().fillna(0) > 0


def listed_as_in_master(rows: pd.DataFrame, context: Context) -> pd.Series:
    master = context.read("fusion_stock_master", columns=("code", "list_date"))
    reported = rows["code"].map(dict(zip(master["code"], master["list_date"], strict=True)))
    return (rows["list_date"] == reported) | rows["list_date"].isna() | reported.isna()


def issue_fits_its_first_price(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The issue price is near the close of the first day, for shares that were listed of
    late (of older ones the page includes the funds): the widest so far were half of it and twentyfold."""
    since = moved(context.today, -_NEW_FOR_DAYS - _OFFER_DAYS)
    asked = rows[rows["issue_price"].notna() & (rows["list_date"].fillna("") >= since)]
    if asked.empty:
        return pd.Series(True, index=rows.index)
    bars = context.read(
        "fusion_kline_daily",
        columns=("code", "date", "close"),
        codes=list(asked["code"]),
        since=since,
        until=context.today,
    )
    first = asked[["code", "list_date"]].merge(
        bars, how="left", left_on=["code", "list_date"], right_on=["code", "date"]
    )
    ratio = first["close"].astype(float).set_axis(asked.index) / asked["issue_price"]
    return ~((ratio < _FIRST_DAY[0]) | (ratio > _FIRST_DAY[1])).reindex(rows.index, fill_value=False)


def figures_are_sound(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No negative number of employees, capital above zero."""
    return ~((rows["employees"] < 0) | (rows["registered_capital"] <= 0)).fillna(False)


DATASET = Dataset(
    name="stock_profile",
    subject="companies",
    title="Company profile",
    model=StockProfile,
    domain="wide",
    partition=rules.Partition.SNAPSHOT,
    dimension=True,
    raw=(
        Raw(
            name="aux_profile",
            title="Company pages: register data, business, controller",
            model=AuxProfile,
            partition=rules.Partition.SNAPSHOT,
            sources=(Source("em_f10", portal_pages), Source("tdx", terminal_text)),
            reads=("fusion_stock_master", "ref_name_history", "raw_concept_blocks"),
            tasks=("aux_f10_events_sync",),
        ),
        Raw(
            name="issue_info",
            title="Issues of shares",
            model=RawIssueInfo,
            partition=rules.Partition.SNAPSHOT,
            sources=(Source("eastmoney", portal_issues), Source("tdx", terminal_issues)),
            reads=("fusion_stock_master", "aux_profile"),
            coalesce_with_stored=_ISSUED,
        ),
    ),
    feeds={"aux_profile": rules.as_received, "raw_issue_info": from_issues},
    order=("em_f10", "eastmoney", "tdx"),
    fuse=rules.Fields(
        order=dict.fromkeys(
            ("list_date", "issue_price", "issue_pe", "issue_shares", "raised_funds"),
            ("eastmoney", "em_f10", "tdx"),
        )
    ),
    contract=(rules.Contract(is_known, "a code that the security master does not have"),),
    derive=(add_former_names,),
    soft=(
        rules.Soft(has_a_name, "no registered name"),
        rules.Soft(listed_as_in_master, "listing date differs from that of the security master"),
        rules.Soft(figures_are_sound, "employees below zero or no capital"),
        rules.Soft(issue_fits_its_first_price, "issue price far from the close of the first day"),
    ),
    reads=("fusion_stock_master", "ref_name_history", "fusion_kline_daily"),
    freshness=rules.calendar_days(30),
    may_be_empty=True,
    tasks=("fusion_wide_sync", "eod_core"),
    interfaces=(
        latest("get_stock_profile", "profile of a code", 86400),
        batch("get_stock_profile_batch", "profiles of many codes", 86400),
        stock(
            "get_issue_info",
            "latest",
            "issue of a code's shares",
            ttl=86400,
            returns="object|null",
            table="raw_issue_info",
        ).takes(code=REQUIRED),
    ),
)
