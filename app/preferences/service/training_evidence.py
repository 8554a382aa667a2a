"""Turn what a run stored into the evidence of its compared reports, or say why it stays here.

Evidence leaves whole or not at all, so that prompts can be rebuilt from it. The three consents are those of the organisation, the
asker and the reader. They cover no documents of one's own, and no words that perhaps another person put into the run.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from asyncpg import Record

from app.domain.chat import ToolResult
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.tool_key import call_key_of
from app.domain.trajectory import TapedCall, Turn
from app.preferences.nouns.evidence import ReportSteps, RunEvidence
from app.preferences.service.pseudonyms import Pseudonyms

OWN_KINDS = frozenset({"file", "tool"})
"""Files of a folder or a collection, and answers of tools of other providers (MCP), which may read anything."""
FOREIGN_TOOL = "mcp_"
"""The beginning of such a tool's name."""
FAILED = "the call failed"
"""Stands for the error of a call: the error may name hosts of the deployment."""
READING_TOOL = "browse"


class LeftOut(StrEnum):
    """Why the evidence of a run is left out: it may hold documents of one's own, or words that a person put into the run."""

    OWN_DOCUMENTS = "own_documents"
    READERS_WORDS = "readers_words"


def evidence_of(run: Record, reports: Mapping[str, Record], names: Pseudonyms) -> RunEvidence | LeftOut:
    """Return the evidence of a run; `reports` has what was stored of the writing of each compared report, by its digest."""
    plan = ResearchPlan.of_any_version(run["plan"])
    tape = _tape_of(Turn.of_any_version(body) for body in run["tool_turns"])
    findings = _findings_of(plan, run["findings"])
    if any(subtask.added for subtask in plan.subtasks) or any(report["noted"] for report in (run, *reports.values())):
        return LeftOut.READERS_WORDS
    if _searched_own(run) or _brought_own(tape) or any(q.source.kind in OWN_KINDS for f in findings for q in f.quotes):
        return LeftOut.OWN_DOCUMENTS
    return RunEvidence(
        id=names.of("evidence", run["id"]),
        plan=plan,
        findings=findings,
        reports={digest: _steps_of(report) for digest, report in reports.items()},
        tape=tape,
    )


def _searched_own(run: Record) -> bool:
    return run["own"] or bool(ResearchQuery.of_any_version(run["query"]).tenant)


def _brought_own(tape: Iterable[TapedCall]) -> bool:
    return any(
        one.call.name.startswith(FOREIGN_TOOL) or any(passage.source.kind in OWN_KINDS for passage in one.result.passages)
        for one in tape
    )


def _findings_of(plan: ResearchPlan, results: Iterable[bytes]) -> tuple[Finding, ...]:
    """Return the findings in the order of the plan, without the detail of why a search stopped: it may name hosts."""
    found = {finding.subtask_id: finding for finding in map(Finding.of_any_version, results)}
    return tuple(found[s.id].model_copy(update={"detail": ""}) for s in plan.subtasks if s.id in found)


def _tape_of(turns: Iterable[Turn]) -> tuple[TapedCall, ...]:
    """Return each call once."""
    calls: dict[str, TapedCall] = {}
    for turn in turns:
        if turn.call is not None and turn.result is not None:
            kept = TapedCall(call=turn.call, result=_without_hosts(turn.call.name, turn.result))
            calls.setdefault(call_key_of(turn.call.name, turn.call.arguments), kept)
    return tuple(calls.values())


def _without_hosts(tool: str, result: ToolResult) -> ToolResult:
    """Return the result without what may name a host of the deployment: errors, and remarks of searches on other searches."""
    note = result.note if tool == READING_TOOL else ""
    return result.model_copy(update={"error": FAILED if result.error else "", "note": note})


def _steps_of(report: Record) -> ReportSteps:
    turns = [Turn.of_any_version(body) for body in report["turns"]]
    answers = {turn.step: turn.completion.text for turn in turns if turn.completion is not None}
    return ReportSteps(asked_on=report["asked_on"], **answers)
