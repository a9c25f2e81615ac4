"""Reading series that are longer than a page. Every loop ends: pages must bring rows, and rows new ones."""

import functools

from core.errors import InputError, PayloadError, Transient
from resources.upstreams.tdx import bars, catalogue, transactions
from resources.upstreams.tdx.instruments import MARKET_NAMES, Instrument
from resources.upstreams.tdx.primitives import SOURCE, Columns
from resources.upstreams.tdx.session import Session

# `start` is u16 on the wire; the busiest days of the busiest codes have about 40,000 transactions.
_MAX_START = 0xFFFF
_DRIFT_TRIES = 3


def join_pages(pages: list[Columns], schema: dict[str, str]) -> Columns:
    """Pages one below the other."""
    return {name: [value for page in pages for value in page[name]] for name in schema}


def read_list(session: Session, market: int, promised: int, *, new: bool) -> Columns:
    """All pages of one market's security list; PayloadError unless it holds `promised` different codes."""
    pages: list[Columns] = []
    start = 0
    while start < promised:
        parse = functools.partial(catalogue.parse_list, market=market, new=new)
        page = session.run(catalogue.list_call(market, start, new=new), parse)
        pages.append(page)
        start += len(page["code"])
        if not page["code"]:
            break
    columns = join_pages(pages, catalogue.SCHEMA)
    rows, codes = len(columns["code"]), len(set(columns["code"]))
    if rows != promised or codes != rows:
        raise PayloadError(
            f"list of {MARKET_NAMES[market]}: {rows} rows with {codes} codes, {promised} promised",
            source=SOURCE,
        )
    return columns


def read_bars(
    session: Session, what: Instrument, of: bars.Period, count: int, start: int, *, absolute: bool
) -> Columns:
    """Newest page first, then older ones, until `count` bars or the end of history."""
    if count < 1:
        raise InputError("count", f"{count}: at least 1")
    if not 0 <= start <= bars.MAX_START:
        raise InputError("start", f"{start}: 0 to {bars.MAX_START}")
    schema = bars.schema(of, index=what.is_index)
    time_column = next(iter(schema))
    pages: list[Columns] = []
    oldest = "~"
    at, missing = start, count
    while missing > 0 and at <= bars.MAX_START:
        asked = min(bars.PAGE, missing)
        call = bars.absolute_call(what, of, at, asked) if absolute else bars.bars_call(what, of, at, asked)
        parse = functools.partial(bars.parse_bars, what=what, of=of, limit=asked, absolute=absolute)
        page = session.run(call, parse)
        received = len(page[time_column])
        # A bar that began between two calls moves every older one by a place: those rows come twice.
        fresh = sum(moment < oldest for moment in page[time_column])
        if received and not fresh:
            raise PayloadError(f"bars of {what.symbol}: start={at} repeats the page before", source=SOURCE)
        pages.insert(0, {name: values[:fresh] for name, values in page.items()})
        missing -= fresh
        at += received
        if received < asked:
            break
        oldest = page[time_column][0]
    return join_pages(pages, schema)


def read_transactions(
    session: Session, form: transactions.Form, what: Instrument, day: str, *, decimals: int | None
) -> Columns:
    """All pages of a day, oldest first. Pages count back from the newest transaction, so a new one in
    between shifts them: the first page is read again at the end, and must not have moved."""
    for _ in range(_DRIFT_TRIES):
        pages: list[Columns] = []
        start = 0
        while start <= _MAX_START:
            page = _transaction_page(session, form, what, day=day, start=start, decimals=decimals)
            pages.insert(0, page)
            start += len(page["time"])
            if len(page["time"]) < form.page:
                break
        else:
            raise PayloadError(f"transactions of {what.symbol}: more than {start} rows", source=SOURCE)
        steady = form.dated or len(pages) == 1
        if steady or _transaction_page(session, form, what, day=day, start=0, decimals=decimals) == pages[-1]:
            return join_pages(pages, transactions.SCHEMA)
    raise Transient(
        f"transactions of {what.symbol}: the list moved during {_DRIFT_TRIES} reads", source=SOURCE
    )


def _transaction_page(
    session: Session, form: transactions.Form, what: Instrument, *, day: str, start: int, decimals: int | None
) -> Columns:
    call = transactions.transactions_call(form, what, start, form.page, int(day.replace("-", "")))
    parse = functools.partial(
        transactions.parse_transactions, form=form, what=what, day=day, limit=form.page, decimals=decimals
    )
    return session.run(call, parse)
