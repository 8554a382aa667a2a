"""Judging whether a report may be compared with others (QSR section 3.2): errors of fact, and mere aggregation.

An error whose words are not in the report does not count, so that a judge cannot invent errors.
"""

from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.quoting import locate_quote
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

REASON_CHARS = 240


class ErrorAnswer(StepAnswer):
    """One error of fact."""

    words: str = Field(default="", description="the wrong words, copied exactly from the report")
    reason: str = Field(default="", description="why they are wrong, in one short sentence")


class FlawsAnswer(StepAnswer):
    """All errors of a report, usually none, and whether it only aggregates."""

    errors: tuple[ErrorAnswer, ...] = ()
    aggregation: str = Field(default="", description="yes or no", json_schema_extra={"enum": ["yes", "no"]})


class FoundError(NamedTuple):
    """Words of the report that are wrong, and why."""

    words: str
    reason: str


class ReportFlaws(NamedTuple):
    """The flaws that the judge found. `aggregation`: the report strings passages together without relating them."""

    errors: tuple[FoundError, ...]
    aggregation: bool


FLAWS = declare_step("report_flaws", FlawsAnswer, max_tokens=1_200)


async def judge_flaws(kit: Kit, question: str, report: str, passages: str) -> ReportFlaws | Missing:
    """Return the flaws of a report. `passages` are those that it cites, with their numbers."""

    def read(said: FlawsAnswer) -> ReportFlaws | None:
        aggregation = {"yes": True, "no": False}.get(said.aggregation.strip().lower())
        found = (FoundError(error.words, " ".join(error.reason.split())[:REASON_CHARS]) for error in said.errors)
        errors = tuple(error for error in found if locate_quote(report, error.words) is not None)
        return None if aggregation is None else ReportFlaws(errors, aggregation)

    return await ask_judge(kit, FLAWS, read, question=question, report=report, passages=passages or "-")
