"""Single-agent systems: the ReAct baseline (QSR C.10) and DeepRubric's agent (DRub D.1). One conversation, then one report.

ReAct reads a digest of its search results (QSR section 4.1). DeepRubric's agent reads the results whole, answers in tags, and
cites in `<cite id>` spans. The limits are those of `effort.LIMITS_ALONE`.
"""

from dataclasses import replace

from app.domain.budget import StopReason
from app.domain.chat import ChatRole, Message
from app.domain.errors import ContextTooLong, ModelError
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from workflows.agents.agent_set import AgentSet
from workflows.agents.answer_reading import check_length
from workflows.agents.asker import Asker
from workflows.agents.codec import TagCodec
from workflows.agents.deep_search import FINAL_STOPS, render_opening
from workflows.agents.draft_quotes import make_finding
from workflows.agents.draft_report import deliver_draft
from workflows.agents.evidence import format_passages
from workflows.agents.failures import describe_failure, refuse_answer
from workflows.agents.kit import Kit
from workflows.agents.loop import Exploration, ObservationDigest, explore, keep_observation
from workflows.agents.notebook import Notebook
from workflows.agents.passage_ids import flatten_cite_spans, list_cited_passages
from workflows.agents.ports import BudgetSpent
from workflows.agents.simple_plan import plan_whole_question
from workflows.agents.stage_memory import path_of_search
from workflows.agents.steps import TextStep
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

DIGEST = TextStep("react_digest", max_tokens=1_500)
DIGEST_WORDS = 300
REPORT = TextStep("react_report", max_tokens=8_000)
CITE_SPANS = "deeprubric_report"


async def search_with_react(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Search and read digests until done, then write. The finding's answer is the report.

    A result without a digest is read as it is, and the finding says so.
    """
    wide = replace(kit, bounds=replace(kit.bounds, queries_per_action=kit.bounds.calls_per_turn))
    reader = Asker(wide, f"{path_of_search(subtask.id)}/digest")

    failures: list[str] = []

    async def digest(message: Message, notebook: Notebook) -> Message:
        try:
            return await _digest_observation(wide, reader, subtask.question, message, notebook)
        except ModelError as error:
            failures.append(describe_failure(error, kit.language))
            return message

    finding = await _explore_and_write(subtask, plan, query, wide, digest, REPORT.name, reader)
    if not failures or not finding.answer:
        return finding
    notice = say("digests_failed", kit.language, n=len(failures), detail=failures[-1])
    return finding.model_copy(update={"notices": (notice,)})


async def search_as_deeprubric(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Run DeepRubric's agent. It always uses think, tool_call and answer tags, even where the installation uses schemas.

    Where the query asks for one conversation, the answer that ends the search is the report, as in its training (DRub D.1).
    """
    bounds = replace(kit.bounds, queries_per_action=kit.bounds.calls_per_turn)
    tagged = replace(kit, codec=TagCodec(spoken=kit.codec.spoken), bounds=bounds)
    return await _explore_and_write(subtask, plan, query, tagged, keep_observation, CITE_SPANS, None)


async def _explore_and_write(
    subtask: Subtask,
    plan: ResearchPlan,
    query: ResearchQuery,
    kit: Kit,
    digest: ObservationDigest,
    prompt: str,
    reader: Asker | None,
) -> Finding:
    asker = Asker(kit, path_of_search(subtask.id))
    whole = prompt == CITE_SPANS and query.one_conversation
    opening = render_opening(subtask, plan, query, kit, _describe_report_form(kit) if whole else "")
    state = await explore(kit, asker, opening, subtask.question, digest, REPORT.max_tokens if whole else 0)
    draft = state.answer if whole else ""
    unwritten = len(state.notebook) and state.stop not in FINAL_STOPS and not draft
    if unwritten and not (whole and state.stop is StopReason.MAX_TOKENS):
        try:
            draft = await _write_report(kit, state, subtask, prompt)
        except BudgetSpent as spent:
            state.end(spent.reason)
        except ModelError as error:
            state.end(StopReason.FAILED, describe_failure(error, kit.language))
    usage = state.used + reader.usage if reader else state.used
    return await make_finding(flatten_cite_spans(draft), state, subtask, kit, asker.agent, usage)


def _describe_report_form(kit: Kit) -> str:
    """Return the form of a turn whose `<answer>` is the whole report."""
    words = str(kit.bounds.sections * kit.bounds.section_words)
    return kit.prompts.get("form_report_tags", kit.language).render_text(words=words)


async def _digest_observation(kit: Kit, reader: Asker, question: str, message: Message, notebook: Notebook) -> Message:
    """Return a digest of what an observation says on the question."""
    messages = kit.prompts.get(DIGEST.name, kit.language).render(
        question=question, results=message.content, form=kit.codec.describe_form(DIGEST, kit.prompts, kit.language)
    )
    told = await reader.write(
        DIGEST, notebook.name_passages(messages), lambda text: check_length(text, DIGEST_WORDS, kit.language)
    )
    digest = Message(role=ChatRole.USER, content=f"<tool_response>\n{as_data(told)}\n</tool_response>")
    return notebook.name_passages([digest])[-1]


async def _write_report(kit: Kit, state: Exploration, subtask: Subtask, prompt: str) -> str:
    """Write the report at the end of the conversation, or over the passages alone when the conversation is too long."""
    words = kit.bounds.sections * kit.bounds.section_words

    def check(text: str) -> None:
        check_length(text, words, kit.language)
        if not list_cited_passages(flatten_cite_spans(text)):
            raise refuse_answer("cites_no_passage", kit.language)

    def closing(evidence: str) -> tuple[Message, ...]:
        return kit.prompts.get(prompt, kit.language).render(
            question=subtask.question,
            today=kit.today.isoformat(),
            words=str(words),
            evidence=evidence,
            form=kit.codec.describe_form(REPORT, kit.prompts, kit.language),
        )

    if not state.context_full:
        try:
            return await state.asker.write(REPORT, (*state.conversation.messages, *closing("")), check)
        except ContextTooLong:
            state.context_full = True
    evidence = format_passages(state.notebook.passages, kit.bounds.evidence_chars)
    return await state.asker.write(REPORT, state.notebook.name_passages(closing(evidence)), check)


REACT = AgentSet(plan=plan_whole_question, search=search_with_react, report=deliver_draft)
DEEPRUBRIC = AgentSet(plan=plan_whole_question, search=search_as_deeprubric, report=deliver_draft)
