"""The portal's lists, page by page."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.gateway import Gateway, Rows
from resources.upstreams.eastmoney.quotes import lists

_MOST_PAGES = 120


class ListCalls(Gateway):
    """Any list of the quote hosts."""

    def clist(
        self, fs: str, names: str, read: Callable[[Rows], pd.DataFrame], *, key: str, complete: bool = True
    ) -> pd.DataFrame:
        """All rows of the list `fs` with the fields `names`, page by page; `read` makes a frame of the
        raw rows of one page, `key` is the column that must not repeat.

        With `complete` a list that ends before its own `total` (or whose total moves) is a
        `PayloadError`; board lists count wrongly, so they pass False and take what they receive. A list that
        the portal does not know is a `PayloadError` as well."""
        parts: list[pd.DataFrame] = []
        received, total = 0, None
        named = fs.startswith("b:BK")  # a board, whose code comes from the caller
        for page in range(1, _MOST_PAGES + 1):
            got = self._fetcher.call(
                lists.clist_request(fs, names, page),
                partial(
                    lists.parse_page, what=f"clist {fs} page {page}", read=read, known=page == 1 and not named
                ),
            )
            parts.append(got.rows)
            received += len(got)
            if complete and len(got) and total not in {None, got.total}:
                raise PayloadError(f"clist {fs}: total moved from {total} to {got.total}", source=self.source)
            total = got.total if total is None else total
            if len(got) < lists.PAGE or (complete and received >= total):
                break
        if complete and received != (total or 0):
            raise PayloadError(f"clist {fs}: {received} of {total} rows", source=self.source)
        rows = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        if rows[key].duplicated().any():
            raise PayloadError(f"clist {fs}: a row came on two pages", source=self.source)
        return rows
