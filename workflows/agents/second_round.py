"""The planning agent's second look: after the searches it may ask for further subtasks, where gaps and conflicts are worth it."""

from collections.abc import Sequence

from app.domain.errors import ModelError
from app.domain.evidence import Finding
from app.domain.plan import MAX_SUBTASKS, ResearchPlan, Subtask, key_question, list_free_ids
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from workflows.agents.asker import Asker
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.memory import MemoryKind, SharedMemory
from workflows.agents.memory_text import format_memory, remove_markers
from workflows.agents.plan_repair import PlanAnswer as RepairedAnswer
from workflows.agents.plan_repair import SubtaskAnswer, repair_plan
from workflows.agents.ports import BudgetSpent
from workflows.agents.private_words import PrivateWords
from workflows.agents.reader_wants import tell_all
from workflows.agents.run_options import add_option_notes
from workflows.agents.stage_memory import SECOND_PLANNER, entries_of
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.tool_use import format_tools
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say


class SecondRoundAnswer(StepAnswer):
    """The further subtasks, mostly few or none."""

    subtasks: tuple[SubtaskAnswer, ...] = ()


SECOND_ROUND = declare_step("second_round", SecondRoundAnswer, max_tokens=1_500)


async def plan_second_round(
    query: ResearchQuery, plan: ResearchPlan, findings: Sequence[Finding], kit: Kit
) -> tuple[Subtask, ...]:
    """Return further subtasks for what the findings leave open; none when the model has none, fails, or the budget is spent."""
    most = min(max(1, kit.bounds.subtasks // 2), MAX_SUBTASKS - len(plan.subtasks))
    if most < 1:
        return ()
    notes = SharedMemory(entries=tuple(e for e in kit.memory.entries if e.kind is MemoryKind.NOTE))
    messages = kit.prompts.get("second_round", kit.language).render(
        today=kit.today.isoformat(),
        tools=format_tools(kit, plan.sources),
        most=str(most),
        question=query.question,
        intent=tell_all(plan, kit.language),
        notes=format_memory(add_option_notes(notes, query, kit.language), kit.language),
        findings="\n\n".join(_format_finding(plan, finding, kit, len(findings)) for finding in findings),
        form=kit.codec.describe_form(SECOND_ROUND, kit.prompts, kit.language),
    )
    try:
        answer = (await Asker(kit, SECOND_PLANNER).ask(SECOND_ROUND, messages)).answer
    except BudgetSpent:
        return ()
    except ModelError as error:
        message = say("second_round_failed", kit.language, detail=describe_failure(error, kit.language))
        await kit.record.tell(EventType.WARNING, SECOND_PLANNER, {"message": message})
        return ()
    return extend_plan(plan, await _leave_out_private(answer.subtasks, findings, kit), most)


async def _leave_out_private(proposed: Sequence[SubtaskAnswer], findings: Sequence[Finding], kit: Kit) -> list[SubtaskAnswer]:
    """Leave out what repeats private sources at length: a question is searched outside before its agent reads anything."""
    private = PrivateWords([entry for finding in findings for entry in entries_of(finding)])
    kept = [subtask for subtask in proposed if not private.are_repeated(subtask.model_dump(mode="json"))]
    if len(kept) < len(proposed):
        await kit.record.tell(EventType.WARNING, SECOND_PLANNER, {"message": say("second_round_private", kit.language)})
    return kept


def extend_plan(plan: ResearchPlan, proposed: Sequence[SubtaskAnswer], most: int) -> tuple[Subtask, ...]:
    """Return the usable ones of the proposed subtasks: new questions under new ids, which need subtasks of the plan alone.

    What was taken out of the plan is nothing new.
    """
    known = {s.id for s in plan.subtasks}
    asked = {*(key_question(s.question) for s in plan.subtasks), *(removed.asked for removed in plan.removed)}
    fresh = [s for s in proposed if key_question(s.question or s.title) not in asked]
    repaired = repair_plan(RepairedAnswer(subtasks=tuple(fresh)), most)
    if repaired is None:
        return ()
    needs = {
        " ".join((s.question or s.title).split()): tuple(dict.fromkeys(n for n in s.depends_on if n in known)) for s in fresh
    }
    return tuple(
        s.model_copy(update={"id": name, "depends_on": needs.get(" ".join(s.question.split()), ())})
        for name, s in zip(list_free_ids("s", plan.known_ids), repaired.subtasks, strict=False)
    )


def _format_finding(plan: ResearchPlan, finding: Finding, kit: Kit, count: int) -> str:
    """Return a subtask with its answer, shortened, and what stayed open."""
    subtask = next((s for s in plan.subtasks if s.id == finding.subtask_id), None)
    answer = remove_markers(finding.answer)[: kit.bounds.evidence_chars // (2 * count)]
    lines = [f"## {finding.subtask_id}: {subtask.question if subtask else ''}", as_data(answer) or say("none", kit.language)]
    lines += [f"{say('gap', kit.language)}: {as_data(gap)}" for gap in finding.gaps]
    lines += [f"{say('conflict', kit.language)}: {as_data(conflict.about)}" for conflict in finding.conflicts]
    return "\n".join([*lines, f"({finding.stop.value})"])
