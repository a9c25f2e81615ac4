"""Dates in requests to the exchanges' sites."""


def day_of(text: str) -> int:
    """YYYYMMDD of `2026-09-30` or `20260930`; 0 for anything else."""
    digits = text.replace("-", "")
    return int(digits) if len(digits) == 8 and digits.isascii() and digits.isdigit() else 0
