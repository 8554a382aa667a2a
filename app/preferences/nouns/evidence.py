"""What compared reports were written from, as the training export tells it."""

from datetime import date

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.trajectory import TapedCall
from app.domain.value import Value


class ReportSteps(Value):
    """How one report was begun: the day that its writer took for today, and the model's answers before it wrote sections.

    `outline` and `aggregation` (which places the quotes) are in the model's own words; empty for a report without such steps.
    """

    asked_on: date
    outline: str = ""
    aggregation: str = ""


class RunEvidence(Value):
    """What the reports over one run's evidence were written from. `id` is a pseudonym, by which pairs name it.

    `findings` come in the order of the plan and hold the quotes; `reports` tells of each compared report by its digest; `tape` is
    what the run's tools returned, each call once.
    """

    id: str
    plan: ResearchPlan
    findings: tuple[Finding, ...]
    reports: dict[str, ReportSteps]
    tape: tuple[TapedCall, ...] = ()
