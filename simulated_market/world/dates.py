"""Days as the worlds hold them (the number 20260928) and in the forms of the wire."""

from datetime import date


def iso_of(day: int) -> str:
    """`2026-09-28`."""
    text = str(day)
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def stamp_of(day: int) -> str:
    """`2026-09-28 00:00:00`."""
    return f"{iso_of(day)} 00:00:00"


def date_of(day: int) -> date:
    return date(day // 10_000, day // 100 % 100, day % 100)


def number_of(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day


def day_of(text: str) -> int:
    """YYYYMMDD of `2026-09-30` or `20260930`; 0 for anything else."""
    digits = text.replace("-", "")
    return int(digits) if len(digits) == 8 and digits.isascii() and digits.isdigit() else 0
