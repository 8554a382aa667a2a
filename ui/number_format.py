"""Numbers in the form in which a reader likes them: money, counts, times and sizes."""

from datetime import timedelta

from ui.language import say


def format_money(microusd: int) -> str:
    """Return millionths of a US dollar as dollars, with the digits that matter: small sums keep four."""
    dollars = microusd / 1_000_000
    return f"${dollars:,.2f}" if dollars >= 1 or microusd % 10_000 == 0 else f"${dollars:.4f}"


def format_count(n: int) -> str:
    """Return a count that fits a tile: 950, 12.3k, 4.5M."""
    if n < 10_000:
        return f"{n:,}"
    short = f"{n / 1_000:.1f}k" if n < 999_950 else f"{n / 1_000_000:.1f}M"
    return short.replace(".0", "")


def format_elapsed(elapsed: timedelta) -> str:
    """Return elapsed time as m:ss, h:mm:ss, or days and hours."""
    seconds = int(elapsed.total_seconds())
    if elapsed.days:
        return say("figure.days", days=elapsed.days, hours=seconds // 3_600 % 24)
    hours, minutes = seconds // 3_600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def format_size(octets: int) -> str:
    """Return a file's size: 812 B, 1.2 MB."""
    for unit, step in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if octets >= step:
            return f"{octets / step:.1f} {unit}".replace(".0 ", " ")
    return f"{octets} B"
