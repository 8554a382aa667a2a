"""The loop of MaMs (QSR appendix B, algorithm 1). It is sequential like the algorithm, but the two agents of a chunk run at once.

Every call is a turn of the record, so that an interrupted stage continues from its last chunk. A failure is a value: the loop
ends with the state it has and says so.
"""

from dataclasses import dataclass, field, replace

from app.domain.budget import StopReason, Usage
from app.domain.errors import ModelError
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from workflows.agents.actions import ActionName, AgentAct
from workflows.agents.asker import ANEW, Asker, FaultyReply
from workflows.agents.concurrency import settle_all
from workflows.agents.draft_quotes import make_finding
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.loop import SAMPLED_ANEW
from workflows.agents.markov.chunks import cut_chunks
from workflows.agents.markov.roles import MarkovState, ask_last_plan, choose_move, fuse_state, revise_report
from workflows.agents.notebook import Notebook
from workflows.agents.observation import make_fault_observation
from workflows.agents.ports import BudgetSpent
from workflows.agents.stage_memory import path_of_search
from workflows.agents.tool_hands import ToolHands, make_plain_search
from workflows.agents.wording import say

EVERYTHING = 10**9
"""Characters of an observation. Nobody reads it: its passages are cut into chunks, and each of them is read."""


@dataclass
class MarkovCourse:
    """The state of a run of MaMs. Its thoughts are the plans it made. `lost` says why a role last failed at a chunk.

    `anew` says that the next turn is sampled at a temperature, because this one repeated itself.
    """

    query: ResearchQuery
    searcher: Asker
    keeper: Asker
    writer: Asker
    hands: ToolHands
    began: float
    state: MarkovState = field(default_factory=MarkovState)
    turns: int = 0
    anew: bool = False
    remark: str = ""
    thoughts: list[str] = field(default_factory=list)
    stop: StopReason | None = None
    detail: str = ""
    lost: str = ""

    @property
    def notebook(self) -> Notebook:
        """The passages seen."""
        return self.hands.notebook

    @property
    def usage(self) -> Usage:
        """The usage of all three roles."""
        return self.searcher.usage + self.keeper.usage + self.writer.usage + Usage(tool_calls=self.hands.calls)

    def end(self, stop: StopReason, detail: str = "") -> None:
        """Stop, and say why."""
        self.stop, self.detail = stop, detail


async def research_in_turns(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Work a question until the plan is done or the turns are used up. The finding's answer is the report at that moment."""
    wide = replace(kit, bounds=replace(kit.bounds, queries_per_action=kit.bounds.calls_per_turn, observation_chars=EVERYTHING))
    agent = path_of_search(subtask.id)
    addresses = (address for entry in kit.memory.entries for address in entry.addresses)
    asked = query.model_copy(update={"question": subtask.question})
    course = MarkovCourse(
        asked,
        Asker(wide, agent),
        Asker(wide, f"{agent}/state"),
        Asker(wide, f"{agent}/report"),
        ToolHands(wide, agent, Notebook(addresses)),
        kit.clock(),
    )
    while course.stop is None:
        reached = wide.limits.find_reached(course.turns, course.usage, kit.clock() - course.began)
        if reached is not None:
            await _take_last_turn(wide, course, reached)
        else:
            await _take_turn(wide, course)
    course.detail = course.detail or ("" if course.state.report else course.lost)
    return await make_finding(course.state.report, course, subtask, kit, course.writer.agent, course.usage)


async def _take_turn(kit: Kit, course: MarkovCourse) -> None:
    try:
        left, temperature = _count_calls_left(kit, course), ANEW if course.anew else 0.0
        move = await choose_move(
            kit, course.searcher, course.query, course.state, course.notebook, left, course.remark, temperature
        )
        course.turns, course.anew = course.turns + 1, False
        if isinstance(move, FaultyReply):
            course.remark = make_fault_observation(kit.language, move.problem).content
            return
        if move.action is not ActionName.FINISH and (times := course.hands.count_repetition(move)) >= SAMPLED_ANEW:
            await _note_repetition(kit, course, times)
            return
        _note_plan(course, move.plan)
        if move.action is ActionName.FINISH and course.hands.calls:
            course.end(StopReason.SUFFICIENT)
            return
        await _carry_out(kit, course, make_plain_search(kit, course.query.question) if move.action is ActionName.FINISH else move)
    except BudgetSpent as spent:
        course.end(spent.reason)
    except ModelError as error:
        if course.hands.calls:
            course.end(StopReason.FAILED, describe_failure(error, kit.language))
        else:
            await _search_once(kit, course, error)


async def _note_repetition(kit: Kit, course: MarkovCourse, repetition: int) -> None:
    """Sample the turn anew, once; end the loop when the model repeats itself again."""
    if repetition > SAMPLED_ANEW:
        course.end(StopReason.REPEATING)
        return
    course.anew = True
    await kit.record.tell(EventType.WARNING, course.searcher.agent, {"message": say("sampled_anew", kit.language)})


def _note_plan(course: MarkovCourse, plan: str) -> None:
    if plan.strip():
        course.state = course.state.model_copy(update={"plan": plan.strip()})
        course.thoughts.append(" ".join(plan.split()))


async def _carry_out(kit: Kit, course: MarkovCourse, act: AgentAct) -> None:
    """Carry out the action, then work the new passages into the state, chunk by chunk."""
    seen = len(course.notebook)
    message, spent = await course.hands.carry_out(act)
    new = course.notebook.passages[seen:]
    course.remark = "" if new else message.content
    for chunk in cut_chunks(new, kit.bounds.chunk_chars):
        await _work_in_chunk(kit, course, chunk)
    if spent is not None:
        raise spent


async def _work_in_chunk(kit: Kit, course: MarkovCourse, chunk: str) -> None:
    """Update the state with a chunk (eq. 4, 5). Both roles read the state before it; a failed role leaves its part unchanged."""
    before = course.state
    fused, report = await settle_all(
        [
            fuse_state(kit, course.keeper, course.query, before, course.notebook, chunk),
            revise_report(kit, course.writer, course.query, before, course.notebook, chunk),
        ],
        2,
    )
    for outcome, role in ((fused, course.keeper), (report, course.writer)):
        if isinstance(outcome, ModelError):
            course.lost = describe_failure(outcome, kit.language)
            message = say("chunk_lost", kit.language, detail=course.lost)
            await kit.record.tell(EventType.WARNING, role.agent, {"message": message})
        elif isinstance(outcome, BaseException):
            raise outcome
    after = fused if isinstance(fused, MarkovState) else before
    course.state = after.model_copy(update={"report": report if isinstance(report, str) else before.report})


async def _take_last_turn(kit: Kit, course: MarkovCourse, reached: StopReason) -> None:
    """Take the forced final turn: no more calls, only a last version of the plan."""
    try:
        _note_plan(course, await ask_last_plan(kit, course.searcher, course.query, course.state, course.notebook))
    except (BudgetSpent, ModelError) as error:
        course.detail = describe_failure(error, kit.language)
    course.end(reached, course.detail)


async def _search_once(kit: Kit, course: MarkovCourse, error: ModelError) -> None:
    """Search the question itself, because the model cannot act; then there is something to quote."""
    _, spent = await course.hands.carry_out(make_plain_search(kit, course.query.question))
    if spent is not None:
        course.end(spent.reason)
    else:
        course.end(StopReason.FAILED, describe_failure(error, kit.language))


def _count_calls_left(kit: Kit, course: MarkovCourse) -> int:
    return max(0, kit.limits.max_tool_calls - course.hands.calls)
