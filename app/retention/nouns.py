"""The time for which an organisation's data is kept."""

from pydantic import Field

from app.domain.value import Value

LONGEST_DAYS = 36_500


class Retention(Value):
    """Days after which something is deleted; null keeps it. Days of a run count from its end.

    The report that a schedule compares with is kept, with its run, until a newer one replaces it.
    """

    runs_days: int | None = Field(
        default=None, ge=1, le=LONGEST_DAYS, description="Runs with all that belongs to them: reports, versions, links, votes."
    )
    events_days: int | None = Field(
        default=None, ge=1, le=LONGEST_DAYS, description="The event logs of runs, and with them usage by model and tool."
    )
    tool_results_days: int | None = Field(
        default=None, ge=1, le=LONGEST_DAYS, description="Tool results, and the turns of agents that read them."
    )
    feedback_days: int | None = Field(
        default=None,
        ge=1,
        le=LONGEST_DAYS,
        description="Choices between reports, stars and flagged claims, since they were made.",
    )
