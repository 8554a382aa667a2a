"""Dates in English words. `strftime` is no help: it follows the locale of the machine."""

from datetime import date

MONTHS = "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"


def write_day(day: date) -> str:
    """Return a day as a reader writes it, such as "4 December 1832"."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
