"""Limits of an organisation, or of one of its keys, and its consumption."""

from datetime import date, datetime
from uuid import UUID

from pydantic import Field

from app.domain.value import Value

LARGEST = 2**53
FASTEST_PACE = 60_000_000
"""Requests per minute: one each microsecond, the shortest time that the database counts. A faster pace is no limit."""


class Quota(Value):
    """Limits; null means none. Tokens and money are counted by calendar month (UTC), from the ledgers."""

    requests_per_minute: int | None = Field(default=None, ge=1, le=LARGEST)
    concurrent_runs: int | None = Field(default=None, ge=0, le=LARGEST, description="Runs that have not ended.")
    tokens_per_month: int | None = Field(default=None, ge=0, le=LARGEST, description="Input and output together.")
    cost_microusd_per_month: int | None = Field(default=None, ge=0, le=LARGEST, description="Millionths of a US dollar.")

    def capped_by(self, other: "Quota") -> "Quota":
        """Return the lower of each limit."""
        return Quota(**{name: _lower_of(getattr(self, name), getattr(other, name)) for name in Quota.model_fields})


class Consumption(Value):
    """The consumption that counts against the quotas on runs."""

    runs: int = Field(description="Runs that have not ended.")
    tokens: int = Field(description="This month.")
    cost_microusd: int = Field(description="This month.")


class KeyQuota(Value):
    """The limits of one key, beside its organisation's."""

    key_id: UUID
    quota: Quota


class UsageLine(Value):
    """The consumption of one model or tool, in all runs of the time."""

    kind: str = Field(
        description="`model` or `tool`; or `draft`: calls of a model before a run, or in a replay; or `deleted`: deleted runs."
    )
    name: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int


class RunUsage(Value):
    """The consumption of one run; `made_for` names the run whose second report it wrote, for a comparison."""

    run_id: UUID
    question: str
    made_for: UUID | None
    created_at: datetime
    created_by: UUID | None
    model_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int


class UsageReport(Value):
    """The organisation's consumption by runs created from one day to another (both included, UTC)."""

    since: date
    until: date
    total: Consumption = Field(description="`runs` counts all of them.")
    lines: tuple[UsageLine, ...] = Field(description="By model and tool, the dearest first.")
    runs: tuple[RunUsage, ...] = Field(description="The hundred dearest.")


def _lower_of(one: int | None, other: int | None) -> int | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None
