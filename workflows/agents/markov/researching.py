"""The loop of MaMs (QSR appendix B, algorithm 1). It is sequential like the algorithm, but the two agents of a chunk run at once.

Every call is a turn of the record, so that an interrupted stage continues from its last chunk. A failure is a value: the loop
ends with the state it has and says so.
"""

from dataclasses import dataclass, field, replace

from app.domain.budget import StopReason, Usage
from app.domain.errors import ModelError
from app.domain.evidence import Finding
from app.domain.markov import MarkovState
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from workflows.agents.acting import Hands, plain_search
from workflows.agents.actions import Act, ActionName
from workflows.agents.asking import Asker
from workflows.agents.concurrency import all_settled
from workflows.agents.drafts import finding_of
from workflows.agents.kit import Kit
from workflows.agents.markov.chunks import chunks_of
from workflows.agents.markov.roles import choose_move, fuse, last_plan, revise
from workflows.agents.notebook import Notebook
from workflows.agents.ports import BudgetSpent
from workflows.agents.remembering import search_agent
from workflows.agents.wording import say

TURNS = 10
CALLS_A_TURN = 5
CHUNK_CHARS = 6_000


@dataclass
class Course:
    """The state of a run of MaMs. Its thoughts are the plans it made."""

    query: ResearchQuery
    searcher: Asker
    keeper: Asker
    writer: Asker
    hands: Hands
    began: float
    state: MarkovState = field(default_factory=MarkovState)
    turns: int = 0
    remark: str = ""
    thoughts: list[str] = field(default_factory=list)
    stop: StopReason | None = None
    detail: str = ""

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
    limits = kit.limits.model_copy(update={"max_turns": min(TURNS, kit.limits.max_turns)})
    wide = replace(kit, bounds=replace(kit.bounds, queries_per_action=CALLS_A_TURN), limits=limits)
    agent = search_agent(subtask.id)
    addresses = (address for entry in kit.memory.entries for address in entry.addresses)
    asked = query.model_copy(update={"question": subtask.question})
    course = Course(
        asked,
        Asker(wide, agent),
        Asker(wide, f"{agent}/state"),
        Asker(wide, f"{agent}/report"),
        Hands(wide, agent, Notebook(addresses)),
        kit.clock(),
    )
    while course.stop is None:
        reached = wide.limits.reached(course.turns, course.usage, kit.clock() - course.began)
        if reached is not None:
            await _last_turn(wide, course, reached)
        else:
            await _turn(wide, course)
    return await finding_of(course.state.report, course, subtask, kit, course.writer.agent, course.usage)


async def _turn(kit: Kit, course: Course) -> None:
    try:
        move = await choose_move(kit, course.searcher, course.query, course.state, _calls_left(kit, course), course.remark)
        course.turns += 1
        _plan(course, move.plan)
        if move.action is ActionName.FINISH and course.hands.calls:
            course.end(StopReason.SUFFICIENT)
            return
        await _act(kit, course, plain_search(kit, course.query.question) if move.action is ActionName.FINISH else move)
    except BudgetSpent as spent:
        course.end(spent.reason)
    except ModelError as error:
        if course.hands.calls:
            course.end(StopReason.FAILED, str(error))
        else:
            await _look_once(kit, course, error)


def _plan(course: Course, plan: str) -> None:
    if plan.strip():
        course.state = course.state.model_copy(update={"plan": plan.strip()})
        course.thoughts.append(" ".join(plan.split()))


async def _act(kit: Kit, course: Course, act: Act) -> None:
    """Carry out the action, then work the new passages into the state, chunk by chunk."""
    seen = len(course.notebook)
    message, spent = await course.hands.carry_out(act)
    new = course.notebook.passages[seen:]
    course.remark = "" if new else message.content
    for chunk in chunks_of(new, CHUNK_CHARS):
        await _work_in(kit, course, chunk)
    if spent is not None:
        raise spent


async def _work_in(kit: Kit, course: Course, chunk: str) -> None:
    """Update the state with a chunk (eq. 4, 5). Both roles read the state before it; a failed role leaves its part unchanged."""
    before = course.state
    fused, report = await all_settled(
        [fuse(kit, course.keeper, course.query, before, chunk), revise(kit, course.writer, course.query, before, chunk)], 2
    )
    for outcome, role in ((fused, course.keeper), (report, course.writer)):
        if isinstance(outcome, ModelError):
            message = say("chunk_lost", kit.language, detail=str(outcome))
            await kit.record.tell(EventType.WARNING, role.agent, {"message": message})
        elif isinstance(outcome, BaseException):
            raise outcome
    after = fused if isinstance(fused, MarkovState) else before
    course.state = after.model_copy(update={"report": report if isinstance(report, str) else before.report})


async def _last_turn(kit: Kit, course: Course, reached: StopReason) -> None:
    """Take the forced final turn: no more calls, only a last version of the plan."""
    try:
        _plan(course, await last_plan(kit, course.searcher, course.query, course.state))
    except (BudgetSpent, ModelError) as error:
        course.detail = str(error)
    course.end(reached, course.detail)


async def _look_once(kit: Kit, course: Course, error: ModelError) -> None:
    """Search the question itself, because the model cannot act; then there is something to quote."""
    try:
        await course.hands.carry_out(plain_search(kit, course.query.question))
    except BudgetSpent as spent:
        course.end(spent.reason)
        return
    course.end(StopReason.FAILED, str(error))


def _calls_left(kit: Kit, course: Course) -> int:
    return max(0, kit.limits.max_tool_calls - course.hands.calls)
