"""sample-detail/detail: members of one index in a month, with weights."""

from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.rejections import accepted_rows, named_by, once_each
from resources.transport.request import Request
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.paging import Page, collected, whole_number
from resources.upstreams.parsing.payload import iso_day, json_of, list_of, number, object_of, string_of
from resources.upstreams.upstream_client import UpstreamClient

PAGE = 500
SAMPLE_COLUMNS: dict[str, str] = {**texts("as_of_date code name"), **numbers("weight_pct")}
_MOST_PAGES = 20


def sample_request(index: str, month: str, page: int) -> Request:
    """`month` is YYYY-MM."""
    params = (("indexcode", index), ("dateStr", month), ("pageNum", str(page)), ("rows", str(PAGE)))
    return Request(
        "cnindex.site", "sample_detail", "/sample-detail/detail", params, label=f"{index} {month} page {page}"
    )


def parse_sample(body: bytes, index: str, month: str) -> Page:
    """Rows with the keys of `SAMPLE_COLUMNS`. PayloadError for another index or another month."""
    what = f"sample {index} {month}"
    document = object_of(json_of(body), what)
    if str(document.get("code")) != "200":
        raise PayloadError(f"{what}: code {document.get('code')!r} {str(document.get('message'))[:60]}")
    data = document.get("data")
    if data is None:
        return Page([], 0, 0)
    data = object_of(data, f"{what} data")
    total = whole_number(data.get("total"), f"{what} total")
    raws = list_of(data.get("rows") or [], f"{what} rows")
    if len(raws) > min(total, PAGE):
        raise PayloadError(f"{what}: {len(raws)} of {total} rows")

    def read(raw: Any) -> dict[str, Any]:
        return _row(object_of(raw, f"{what} row"), index, month)

    rows = accepted_rows(raws, read, what, named_by("seccode"))
    return Page(rows, len(raws), total)


def _row(raw: dict[str, Any], index: str, month: str) -> dict[str, Any]:
    what = f"sample {index} {month}"
    of_index = string_of(raw.get("indexcode"), f"{what} indexcode")
    if of_index != index:
        raise PayloadError(f"{what}: {of_index[:20]!r} instead of {index}")
    code = string_of(raw.get("seccode"), f"{what} seccode")
    if len(code) != 6 or not code.isascii() or not code.isdigit():
        raise PayloadError(f"{what}: {code[:20]!r} is no code")
    day = iso_day(string_of(raw.get("dateStr"), f"{what} dateStr"), f"{what} dateStr")
    if not day.startswith(month):
        raise PayloadError(f"{what}: rows of {day}")
    weight = number(raw.get("weight"), f"{what} {code} weight")
    if weight < 0 or weight > 100:
        raise PayloadError(f"{what} {code}: a weight of {weight}")
    return {
        "as_of_date": day,
        "code": code,
        "name": string_of(raw.get("secname"), f"{what} {code} secname").strip() or None,
        "weight_pct": weight,
    }


class CnindexClient(UpstreamClient):
    source = "cnindex"

    def sample(self, index: str, month: str) -> pd.DataFrame:
        """Members of an index at the end of a month (YYYY-MM); columns `SAMPLE_COLUMNS`, empty for a month
        that is not published yet. One call per 500 members."""

        def ask(page: int) -> Page:
            return self._ask(sample_request(index, month, page), parse_sample, index=index, month=month)

        rows = frame(collected(ask, f"sample {index}", most_pages=_MOST_PAGES, key=("code",)), SAMPLE_COLUMNS)
        if rows["as_of_date"].nunique() > 1:
            raise PayloadError(f"sample {index}: several dates", source=self.source)
        return once_each(rows, ["code"], f"sample {index}")
