"""Response bodies about votes between ways of writing."""

from pydantic import BaseModel, Field

from app.domain.writer import WriterSettings
from app.preferences.service.contests import LEAST_READERS, LEAST_VOTES


class ContestView(BaseModel):
    """Votes between two ways of writing. `won` is the first way's share of decided votes, with Wilson's 95% interval."""

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    both_bad: int
    readers: int
    won: float | None
    low: float | None
    high: float | None
    settled: str | None = Field(
        description=f"The better way, once the interval lies on one side of a half, from {LEAST_VOTES} decided votes of "
        f"{LEAST_READERS} readers at least; else null."
    )


class WayView(BaseModel):
    """A way in which a report can be written here; a comparison is asked for with `writer`."""

    name: str
    writer: WriterSettings


class WayList(BaseModel):
    """The ways in which reports can be written here."""

    items: list[WayView]


class Summary(BaseModel):
    """All pairs of ways that met. They change nothing by themselves: an admin sets the default."""

    contests: list[ContestView]
    default: WriterSettings
