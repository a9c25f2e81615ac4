"""Arithmetic of calendar days as ISO text. Pure."""

from datetime import date, timedelta


def moved(day: str, days: int) -> str:
    """The day so many calendar days later (earlier where `days` is negative)."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def monday_of(day: str) -> str:
    """The Monday of the day's week."""
    return moved(day, -date.fromisoformat(day).weekday())
