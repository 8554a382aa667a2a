"""The report stage: it writes the report (with or without a model), renders it and completes the run.

A rerun that finds the same quotes as the run before takes that run's report over, and the writer does not run. Sources that the
report cites beside the findings, as a brief does that searched by itself, are kept with it.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence

import orjson

from app.asking.storage import rubrics
from app.domain.budget import StopReason
from app.domain.errors import ModelError, NotFound
from app.domain.evidence import Finding, Quote
from app.domain.query import Language
from app.domain.report import Report
from app.domain.run import EventType, Run, RunStatus
from app.domain.served_models import ModelRole
from app.domain.writer import ReportLineage
from app.reports.rendering import render
from app.reports.storage.reports import Surroundings, find_surroundings
from app.runs.storage import runs
from app.runs.storage.run_log import RunLog
from app.schedules.storage import living_runs
from app.settings import ClaimGrader
from workflows.agents.asker import Asker
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.failures import describe_failure
from workflows.agents.ports import BudgetSpent
from workflows.agents.reporting.brief_instead import is_brief_instead
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.whole_prompt import show_what_was_read
from workflows.agents.stage_memory import memory_of_report
from workflows.agents.wording import say
from workflows.durable.cited_copies import count_sources, keep_cited_by_report
from workflows.durable.payloads import ReportRequest
from workflows.durable.persistence import persist
from workflows.durable.rubric_stage import draft_for_run, hold_to_rubric, load_rubric
from workflows.durable.workshop import StageAttempt, StageOutcome, Workshop
from workflows.durable.writers import ReportWriter, make_brief_writer, writer_of
from workflows.judging.context import QuoteContext
from workflows.judging.report_changes import words_of
from workflows.judging.report_verification import verify_report
from workflows.judging.second_look import Judges

REPORTER = "report"
FINISHED = {
    Language.ENGLISH: "the run was told to finish with what there was",
    Language.CHINESE: "已按要求以现有材料结束研究",
}
log = logging.getLogger(__name__)


async def run_report_stage(request: ReportRequest, attempt: StageAttempt) -> str:
    """Write, render and store the report, and complete the run in the same transaction. Return the report's title."""
    findings = _collect_findings(request, attempt)
    if request.query.rubric and request.query.canary:
        await draft_for_run(attempt, request.plan)  # a canary of a generator of rubrics has this report's drafted anew
    card, taken = None, await _find_reusable_report(attempt, findings)
    written, lineage = taken or await _write_with_lineage(request, attempt, findings)
    kept = await keep_cited_by_report(written, findings, attempt.find_missing_snapshots, attempt.fetch_snapshot)
    report, copies = kept.report, {copy.hash: copy.text for copy in kept.snapshots}
    if taken:
        around = await _find_around(attempt, report.quotes, copies)
    else:
        check = await hold_to_rubric(request, attempt, findings, report, lineage) if request.query.rubric else None
        report = check.checked.report if check else report
        report, around = await _verify_report(request, attempt, findings, report, copies, lineage.model)
        card = await check.make_scorecard(report) if check else None
    rendered = render(report, await _load_run(attempt), around)
    told = {"stop": StopReason.SUFFICIENT, "detail": "", "quotes": len(report.quotes), "sources": count_sources(report.quotes)}

    async def complete(log: RunLog) -> None:
        await log.save_report(request.run_id, report, rendered.renderings, rendered.evidence, rendered.told)
        if card:
            await rubrics.save_scorecard(log.executor, request.run_id, card)
        await log.set_status(request.run_id, RunStatus.COMPLETED)

    result = {"title": report.title, "lineage": lineage.model_dump(mode="json")}
    await attempt.close(StageOutcome(orjson.dumps(result), told, kept.snapshots, kept.cites), complete)
    return report.title


async def _find_reusable_report(attempt: StageAttempt, findings: tuple[Finding, ...]) -> tuple[Report, ReportLineage] | None:
    """Return the report of the run that this one refreshes, if both have the same evidence; None if it must be written."""
    before = attempt.request.query.refreshes
    if before is None:
        return None
    database = attempt.shop.database
    known = await persist(lambda: living_runs.get_findings(database, before))
    if not known or _evidence_of(known) != _evidence_of(findings):
        return None
    report = await persist(lambda: living_runs.get_report(database, before))
    made = await persist(lambda: living_runs.get_report_result(database, before))
    return (report, ReportLineage.of_any_version(orjson.loads(made)["lineage"])) if report and made else None


def _evidence_of(findings: Iterable[Finding]) -> frozenset[tuple[str, str]]:
    return frozenset(words_of(evidence) for finding in findings for evidence in finding.quotes or finding.passages)


async def _verify_report(
    request: ReportRequest,
    attempt: StageAttempt,
    findings: tuple[Finding, ...],
    written: Report,
    copies: Mapping[str, str],
    writer: str | None,
) -> tuple[Report, dict[str, Surroundings]]:
    """Return the report with its claims graded and repaired, and the text around its quotes in the copies of their sources.

    A judge that wrote the report itself, as the model `writer`, judges beside what it read for that.
    """
    around = await _find_around(attempt, written.quotes, copies)
    contexts = {key: QuoteContext(*texts) for key, texts in around.items()}
    judge = attempt.models[ModelRole.JUDGE]
    kit = attempt.make_kit(memory_of_report(request.plan, findings, attempt.notes), judge)
    desk = ReportDesk(kit, request.query, request.plan, findings, EvidenceBook(findings), Asker(kit, REPORTER))
    read = show_what_was_read(written, desk) if judge.name == writer else None
    report = await verify_report(written, findings, kit, _judges_of(request, attempt), contexts, read=read)
    added = [quote for quote in report.quotes if quote.key not in around]
    return report, around | (await _find_around(attempt, added, copies) if added else {})


async def _find_around(attempt: StageAttempt, quotes: Sequence[Quote], copies: Mapping[str, str]) -> dict[str, Surroundings]:
    """Return the text around the quotes. `copies` are those that are stored only when the stage closes."""
    return await persist(lambda: find_surroundings(attempt.shop.database, quotes, copies=copies))


def _judges_of(request: ReportRequest, attempt: StageAttempt) -> Judges:
    """Return the judges. A model does not judge a run that has to finish early."""
    return judges_of(attempt.shop, attempt.shop.asks_a_model and not request.finish)


def judges_of(shop: Workshop, spends: bool) -> Judges:
    """Return the judges that the installation names; a model only if it may spend."""
    return Judges(shop.index, ClaimGrader.OFFLINE if shop.judge is ClaimGrader.MODEL and not spends else shop.judge)


def _collect_findings(request: ReportRequest, attempt: StageAttempt) -> tuple[Finding, ...]:
    """Return all findings in the order of the plan: the stored ones, and those that say why a search failed."""
    found = {outcome.subtask_id: outcome.to_finding() for outcome in request.missing}
    found |= {finding.subtask_id: finding for finding in attempt.needed_findings}
    return tuple(found[s.id] for s in request.plan.subtasks if s.id in found)


async def _write_with_lineage(
    request: ReportRequest, attempt: StageAttempt, findings: tuple[Finding, ...]
) -> tuple[Report, ReportLineage]:
    """Write the report, and note in its lineage the models that its run had; the writer is who in fact wrote."""
    report, lineage = await _write_report(request, attempt, findings)
    if not attempt.shop.asks_a_model:
        return report, lineage
    models = attempt.model_names.model_copy(update={"writer": lineage.model})
    return report, lineage.model_copy(update={"models": models})


async def _write_report(
    request: ReportRequest, attempt: StageAttempt, findings: tuple[Finding, ...]
) -> tuple[Report, ReportLineage]:
    """Write with the report agent, or without a model when the run has to finish early or the agent fails for good.

    Where a model was to write and did not, the report says so before all else, and its lineage names no model.
    """
    without_model = make_brief_writer(attempt.shop, request.query)
    if request.finish:
        return await _write_without_model(without_model, request, attempt, findings, FINISHED[request.query.language])
    try:
        writer = await writer_of(attempt.shop, request.query)
        report = await _write_with(writer, request, attempt, findings)
        if is_brief_instead(report, request.query.language):
            return report, without_model.lineage
        return report, writer.lineage.model_copy(update={"composition": report.composition or ""})
    except BudgetSpent as spent:
        reason = describe_failure(spent, request.query.language)
    except Exception as error:
        log.exception("run %s: the report agent failed", request.run_id)
        await attempt.record.tell(EventType.WARNING, REPORTER, {"message": f"the report agent failed: {error}"})
        language = request.query.language
        reason = describe_failure(error, language) if isinstance(error, ModelError) else say("program_failed", language)
    return await _write_without_model(without_model, request, attempt, findings, reason)


async def _write_without_model(
    writer: ReportWriter, request: ReportRequest, attempt: StageAttempt, findings: tuple[Finding, ...], reason: str
) -> tuple[Report, ReportLineage]:
    """Write without a model. An installation that has none gets no notice: nothing is missing there."""
    report = await _write_with(writer, request, attempt, findings)
    if attempt.shop.asks_a_model:
        notice = say("without_model", request.query.language, detail=reason)
        report = report.model_copy(update={"notices": (notice, *report.notices)})
    return report, writer.lineage


async def _write_with(
    writer: ReportWriter, request: ReportRequest, attempt: StageAttempt, findings: tuple[Finding, ...]
) -> Report:
    stored = await load_rubric(attempt) if request.query.rubric else None
    memory = memory_of_report(request.plan, findings, attempt.notes, stored)
    kit = attempt.make_kit(memory, writer.model)
    return await writer.agents.report(request.query, request.plan, findings, kit)


async def _load_run(attempt: StageAttempt) -> Run:
    run_id = attempt.request.run_id
    run = await persist(lambda: runs.get(attempt.shop.database, run_id))
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    return run
