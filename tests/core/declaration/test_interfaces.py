import pytest

from core.declaration.rules import Interface, interfaces
from core.errors import DeclarationError


def test_two_lines_are_an_interface():
    found = interfaces("""
        get_rank(report_period? codes fields? min_premium? limit=100 ascending=true
                 pool=up): market by_date of raw_rank by -ratio -> object, 3600 s
            highest ratios
        get_all(): market every, 60 s
            all there are
    """)
    assert found == (
        Interface(
            name="get_rank",
            dimension="market",
            template="by_date",
            params={
                "report_period": ("date", False, None),
                "codes": ("string[]", True, None),
                "fields": ("string[]", False, None),
                "min_premium": ("float", False, None),
                "limit": ("int", False, 100),
                "ascending": ("bool", False, True),
                "pool": ("string", False, "up"),
            },
            returns="object",
            ttl=3600,
            description="highest ratios",
            table="raw_rank",
            order="-ratio",
        ),
        Interface("get_all", "market", "every", {}, "object[]", 60, "all there are"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "get_all(): market every\nwithout its seconds",
        "get_all(): market every, 60 s",
        "get_all(limit: int): market every, 60 s\na parameter of another notation",
        "get_all(): market every, 60 s\nfine\nand a line too many",
    ],
)
def test_what_is_not_written_so_is_refused(text):
    with pytest.raises(DeclarationError):
        interfaces(text)
