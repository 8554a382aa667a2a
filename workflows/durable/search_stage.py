"""The search stages: a deep search on one subtask, alone or with others that begin at the same moment."""

import asyncio
import logging
from collections.abc import Sequence

from temporalio.exceptions import ApplicationError

from app.domain.budget import StopReason
from app.domain.evidence import Finding
from app.runs.storage.stage_openings import StageOpening, WantedStage
from workflows.agents.ports import BudgetSpent
from workflows.agents.remembering import memory_of_search, search_agent
from workflows.durable.failures import is_final
from workflows.durable.payloads import SearchesOutcome, SearchesRequest, SearchOutcome, SearchRequest
from workflows.durable.performing import opened, performed
from workflows.durable.sources import cited, distinct_sources
from workflows.durable.workshop import Attempt, Outcome, Workshop

log = logging.getLogger(__name__)


async def searched(shop: Workshop, request: SearchRequest) -> SearchOutcome:
    """Run a deep search and store its finding with the sources it cites. A search that fails for good gives a finding too.

    Raises:
        ApplicationError: as `performed`.
    """
    [opening] = await opened(shop, request, (_wanted(request),))
    return await _searched(shop, request, opening)


async def _searched(shop: Workshop, request: SearchRequest, opening: StageOpening) -> SearchOutcome:
    async def work(attempt: Attempt) -> Finding:
        return await _stored(await _found(request, attempt), attempt)

    finding = await performed(shop, request, _wanted(request), opening, work, Finding.of_any_version)
    return SearchOutcome(subtask_id=request.subtask_id, stop=finding.stop, detail=finding.detail)


def _wanted(request: SearchRequest) -> WantedStage:
    """Return the stage of a search. It reads the findings of all searches that its subtask depends on."""
    subtask = request.plan.subtask(request.subtask_id)
    needed = request.plan.ancestors(subtask.id)
    ancestors = [search_agent(s.id) for s in request.plan.subtasks if s.id in needed]
    return WantedStage(search_agent(subtask.id), subtask.title, ancestors)


async def searched_together(shop: Workshop, request: SearchesRequest) -> SearchesOutcome:
    """Run searches together and return how each ended, once all have. A failed one does not affect the others' findings.

    Raises:
        ApplicationError: as `performed`, from one of them; the others have then ended too, and their turns are stored.
    """
    each = request.each
    openings = await opened(shop, request, [_wanted(one) for one in each])
    searches = (_searched(shop, one, opening) for one, opening in zip(each, openings, strict=True))
    ended = await asyncio.gather(*searches, return_exceptions=True)
    return SearchesOutcome(
        ended=tuple(outcome for outcome in ended if isinstance(outcome, SearchOutcome)),
        failed=tuple(_failures(request.subtask_ids, ended)),
    )


def _failures(subtask_ids: Sequence[str], ended: Sequence[SearchOutcome | BaseException]) -> list[SearchOutcome]:
    failed = []
    for subtask_id, outcome in zip(subtask_ids, ended, strict=True):
        if isinstance(outcome, ApplicationError) and is_final(outcome):
            failed.append(SearchOutcome(subtask_id=subtask_id, stop=StopReason.FAILED, detail=outcome.message))
        elif isinstance(outcome, BaseException):
            raise outcome
    return failed


async def _stored(found: Finding, attempt: Attempt) -> Finding:
    finding, snapshots = await cited(found, attempt.missing_snapshots, attempt.fetch_snapshot)
    sources = distinct_sources(finding.quotes)
    told = {"stop": finding.stop, "detail": finding.detail, "quotes": len(finding.quotes), "sources": sources}
    body = finding.model_dump_json(exclude_defaults=True).encode()
    cites = frozenset(quote.source.snapshot for quote in finding.quotes)
    await attempt.close(Outcome(body, told, snapshots, cites))
    return finding


async def _found(request: SearchRequest, attempt: Attempt) -> Finding:
    subtask = request.plan.subtask(request.subtask_id)
    findings = {finding.subtask_id: finding for finding in attempt.needed_findings}
    memory = memory_of_search(subtask, request.plan, findings, attempt.notes)
    agents = attempt.shop.agents_of(request.query)
    try:
        return await agents.search(subtask, request.plan, request.query, attempt.kit(memory))
    except BudgetSpent as spent:
        return Finding(subtask_id=subtask.id, stop=spent.reason, usage=attempt.record.usage)
    except Exception as error:
        log.exception("run %s: the search on %s failed", request.run_id, subtask.id)
        return Finding(subtask_id=subtask.id, stop=StopReason.FAILED, detail=str(error), usage=attempt.record.usage)
