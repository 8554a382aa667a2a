"""The limits of a fetch from an unknown server."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of one fetch. Sizes are bytes, on the wire (`sent`) and unpacked (`unpacked`)."""

    total: timedelta = timedelta(seconds=30)
    connect: timedelta = timedelta(seconds=8)
    idle: timedelta = timedelta(seconds=10)
    sent: int = 16 << 20
    unpacked: int = 32 << 20
    redirects: int = 5
    parsing: timedelta = timedelta(seconds=20)
    text_chars: int = 1_500_000


FETCH_LIMITS = FetchLimits()
