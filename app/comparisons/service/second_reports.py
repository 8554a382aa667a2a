"""Plan a second report over the evidence of a finished run."""

from collections.abc import Mapping
from uuid import UUID, uuid4

from app.comparisons.service.candidates import evidence_digest
from app.comparisons.storage.comparisons import ComparisonPlan
from app.domain.budget import StopReason
from app.domain.contract import ResearchInput
from app.domain.evidence import Finding
from app.domain.query import ResearchQuery


def plan_second_report(
    start: ResearchInput, query: ResearchQuery, stored: Mapping[str, bytes], user_id: UUID | None
) -> tuple[ComparisonPlan, dict[str, bytes]]:
    """Return the comparison with a run's report, and findings for its searches that left none.

    `query` says how the second report is written; `stored` are the results of the run's searches by stage.
    """
    subtasks = start.plan.subtasks if start.plan else ()
    searched = [subtask.id for subtask in subtasks if subtask.id not in start.dropped]
    lost = {f"search/{id_}": _make_lost_finding(id_) for id_ in searched if f"search/{id_}" not in stored}
    digest = evidence_digest(Finding.of_any_version(body) for body in stored.values())
    asked = query.model_copy(update={"approve_plan": False})
    return ComparisonPlan(uuid4(), start.run_id, uuid4(), asked, digest, user_id), lost


def _make_lost_finding(subtask_id: str) -> bytes:
    """Return a finding for a search without a result: the search must not be repeated, or the evidence would differ."""
    finding = Finding(subtask_id=subtask_id, stop=StopReason.FAILED, detail="its search failed")
    return finding.model_dump_json(exclude_defaults=True).encode()
