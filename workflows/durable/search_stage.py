"""The search stages: a deep search on one subtask, alone or with others that begin at the same moment."""

import asyncio
import logging
from collections.abc import Sequence

from temporalio.exceptions import ApplicationError

from app.domain.budget import StopReason
from app.domain.evidence import Finding
from app.domain.served_models import ModelRole
from app.runs.storage.stage_openings import StageOpening, WantedStage
from workflows.agents.planning import make_plan
from workflows.agents.ports import BudgetSpent
from workflows.agents.stage_memory import memory_of_search, path_of_search
from workflows.durable.cited_copies import count_sources, keep_cited
from workflows.durable.failures import is_final
from workflows.durable.payloads import SearchesOutcome, SearchesRequest, SearchOutcome, SearchRequest
from workflows.durable.stage_running import open_stages_of, perform_open_stage
from workflows.durable.workshop import StageAttempt, StageOutcome, Workshop

log = logging.getLogger(__name__)
OPEN_POINT_CHARS, MOST_OPEN_POINTS = 120, 2


async def run_search(shop: Workshop, request: SearchRequest) -> SearchOutcome:
    """Run a deep search and store its finding with the sources it cites. A search that fails for good gives a finding too.

    Raises:
        ApplicationError: as `perform_open_stage`.
    """
    [opening] = await open_stages_of(shop, request, (_wanted_stage_of(request),))
    return await _run_opened_search(shop, request, opening)


async def _run_opened_search(shop: Workshop, request: SearchRequest, opening: StageOpening) -> SearchOutcome:
    async def work(attempt: StageAttempt) -> Finding:
        return await _store_finding(await _find_evidence(request, attempt), attempt)

    finding = await perform_open_stage(shop, request, _wanted_stage_of(request), opening, work, Finding.of_any_version)
    planner = (await shop.open_models(request.query))[ModelRole.PLANNER]
    points = _list_open_points(finding) if shop.agents_of(request.query, planner).plan is make_plan else ()
    return SearchOutcome(subtask_id=request.subtask_id, stop=finding.stop, detail=finding.detail, open_points=points)


def _list_open_points(finding: Finding) -> tuple[str, ...]:
    """Return what a second round could look for, in short, because it travels through the workflow."""
    points = [*finding.gaps, *(conflict.about for conflict in finding.conflicts)]
    return tuple(point[:OPEN_POINT_CHARS] for point in points[:MOST_OPEN_POINTS])


def _wanted_stage_of(request: SearchRequest) -> WantedStage:
    """Return the stage of a search. It reads the findings of all searches that its subtask depends on."""
    subtask = request.plan.get_subtask(request.subtask_id)
    needed = request.plan.ancestors_of(subtask.id)
    ancestors = [path_of_search(s.id) for s in request.plan.subtasks if s.id in needed]
    return WantedStage(path_of_search(subtask.id), subtask.title, ancestors)


async def run_searches(shop: Workshop, request: SearchesRequest) -> SearchesOutcome:
    """Run searches together and return how each ended, once all have. A failed one does not affect the others' findings.

    Raises:
        ApplicationError: as `perform_open_stage`, from one of them; the others have then ended too, and their turns are stored.
    """
    each = request.each
    openings = await open_stages_of(shop, request, [_wanted_stage_of(one) for one in each])
    searches = (_run_opened_search(shop, one, opening) for one, opening in zip(each, openings, strict=True))
    ended = await asyncio.gather(*searches, return_exceptions=True)
    return SearchesOutcome(
        ended=tuple(outcome for outcome in ended if isinstance(outcome, SearchOutcome)),
        failed=tuple(_list_failures(request.subtask_ids, ended)),
    )


def _list_failures(subtask_ids: Sequence[str], ended: Sequence[SearchOutcome | BaseException]) -> list[SearchOutcome]:
    failed = []
    for subtask_id, outcome in zip(subtask_ids, ended, strict=True):
        if isinstance(outcome, ApplicationError) and is_final(outcome):
            failed.append(SearchOutcome(subtask_id=subtask_id, stop=StopReason.FAILED, detail=outcome.message))
        elif isinstance(outcome, BaseException):
            raise outcome
    return failed


async def _store_finding(found: Finding, attempt: StageAttempt) -> Finding:
    finding, snapshots = await keep_cited(found, attempt.find_missing_snapshots, attempt.fetch_snapshot)
    evidence = finding.quotes or finding.passages
    told = {"stop": finding.stop, "detail": finding.detail, "quotes": len(evidence), "sources": count_sources(evidence)}
    body = finding.model_dump_json(exclude_defaults=True).encode()
    await attempt.close(StageOutcome(body, told, snapshots, finding.quotes))
    return finding


async def _find_evidence(request: SearchRequest, attempt: StageAttempt) -> Finding:
    subtask = request.plan.get_subtask(request.subtask_id)
    findings = {finding.subtask_id: finding for finding in attempt.needed_findings}
    memory = memory_of_search(subtask, request.plan, findings, attempt.notes)
    model = attempt.models[ModelRole.SEARCHER]
    agents = attempt.shop.agents_of(request.query, model)
    try:
        return await agents.search(subtask, request.plan, request.query, attempt.make_kit(memory, model))
    except BudgetSpent as spent:
        return Finding(subtask_id=subtask.id, stop=spent.reason, usage=attempt.record.usage)
    except Exception as error:
        log.exception("run %s: the search on %s failed", request.run_id, subtask.id)
        return Finding(subtask_id=subtask.id, stop=StopReason.FAILED, detail=str(error), usage=attempt.record.usage)
