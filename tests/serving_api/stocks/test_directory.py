"""The search over joined lines finds what a walk over every listing finds, in the same order."""

from hypothesis import given
from hypothesis import strategies as st

from core.text_keys import search_key
from serving_api.stocks.directory import Directory, Listing

TEXT = st.text(alphabet="ab1茅台 A", max_size=4)
LISTINGS = st.lists(
    st.builds(
        Listing,
        code=st.text(alphabet="01a", min_size=1, max_size=4),
        name=TEXT,
        market=st.none(),
        sec_type=st.none(),
        initials=st.text(alphabet="ab", max_size=3),
        spelling=st.text(alphabet="abc", max_size=5),
        industry=st.none(),
        others=st.lists(
            st.tuples(st.text(alphabet="ab", max_size=3), st.text(alphabet="abc", max_size=5)), max_size=2
        ).map(tuple),
    ),
    unique_by=lambda listing: listing.code,
    max_size=12,
)


def walked(listings: list[Listing], keyword: str) -> list[Listing]:
    """Every listing looked at, by the words of the documentation."""
    sought = search_key(keyword)
    if not sought:
        return []
    found = []
    for listing in listings:
        texts = (listing.code.casefold(), search_key(listing.name))
        ranks = [
            0 if text == sought else 1 if text.startswith(sought) else 2 for text in texts if sought in text
        ]
        if ranks:
            found.append((min(ranks), listing.code, listing))
    if not found and sought.isascii() and sought.isalpha():
        for listing in listings:
            read = [
                (tests.index(True), at > 0)
                for at, (initials, spelling) in enumerate(
                    [(listing.initials, listing.spelling), *listing.others]
                )
                if any(
                    tests := (
                        initials.startswith(sought),
                        spelling.startswith(sought),
                        sought in initials,
                        sought in spelling,
                    )
                )
            ]
            if read:
                found.append((*min(read), listing.code, listing))
    return [listing for *_, listing in sorted(found, key=lambda hit: hit[:-1])]


@given(listings=LISTINGS, keyword=st.text(alphabet="abcA01茅台 ", max_size=4))
def test_the_search_equals_a_walk(listings: list[Listing], keyword: str) -> None:
    assert Directory.of(listings).find(keyword) == walked(listings, keyword)


def test_a_keyword_is_not_found_across_two_texts() -> None:
    directory = Directory.of(
        [
            Listing("600519", "9茅台", None, None, "mt", "maotai", None),
            Listing("600520", "某某", None, None, "mm", "moumou", None),
        ]
    )

    assert directory.find("5199") == []
    assert directory.find("tmaotai") == []
    assert directory.find("台600520") == []
