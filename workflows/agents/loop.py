"""The act-observe loop: think, act, observe, until the evidence suffices or a limit is reached (MindDR section 3.1)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TypeAlias

from app.domain.budget import StopReason, Usage
from app.domain.chat import Message
from app.domain.errors import AnswerInvalid, ContextTooLong, ModelError
from app.domain.run import EventType
from app.domain.safe_text import make_safe
from workflows.agents.actions import ActionName, AgentAct, make_act_step
from workflows.agents.asker import ANEW, Asker, FaultyReply, StepReply
from workflows.agents.conversation import Conversation
from workflows.agents.effort import CHARS_PER_TOKEN
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.notebook import Notebook
from workflows.agents.observation import make_fault_observation
from workflows.agents.parsing import read_answer_tag, remove_thinking
from workflows.agents.ports import BudgetSpent
from workflows.agents.tool_hands import ToolHands, make_plain_search
from workflows.agents.wording import say

THOUGHT_CHARS = 2_000
SAMPLED_ANEW = 2
"""The first repetition of a call is told to the model, the second is taken back and sampled anew, the third ends the loop."""
FEW_LEFT = 2
"""From so many actions or tool calls on, an agent is told after each turn what is left."""
ObservationDigest: TypeAlias = Callable[[Message, Notebook], Awaitable[Message]]


async def keep_observation(message: Message, _: Notebook) -> Message:
    """Return the observation unchanged."""
    return message


@dataclass
class Exploration:
    """The state of a loop: the conversation, the passages seen, the thoughts; at the end, the reason why it stopped.

    `anew` says that the next turn is sampled at a temperature, because this one repeated itself. `answer` is what stood in the
    `<answer>` that ended the search, `answer_tokens` the room for it where it is the report. `opening_tokens` are those of the
    first prompt; `unread_chars` were observed after the last turn.
    """

    asker: Asker
    hands: ToolHands
    conversation: Conversation
    question: str
    began: float
    digest: ObservationDigest = keep_observation
    turns: int = 0
    thoughts: list[str] = field(default_factory=list)
    context_full: bool = False
    anew: bool = False
    stop: StopReason | None = None
    detail: str = ""
    answer: str = ""
    answer_tokens: int = 0
    opening_tokens: int = 0
    unread_chars: int = 0

    @property
    def notebook(self) -> Notebook:
        """The passages seen."""
        return self.hands.notebook

    @property
    def used(self) -> Usage:
        """The usage of the loop's own agent."""
        return self.asker.usage + Usage(tool_calls=self.hands.calls)

    def end(self, stop: StopReason, detail: str = "") -> None:
        """Stop, and say why."""
        self.stop, self.detail = stop, detail


async def explore(
    kit: Kit,
    asker: Asker,
    opening: Sequence[Message],
    question: str,
    digest: ObservationDigest = keep_observation,
    answer_tokens: int = 0,
) -> Exploration:
    """Search until done. The result always says why it stopped; only errors that halt the run are raised.

    `question` itself is searched when the model wants to finish before it has searched, or cannot act. `digest` turns an
    observation into the message that enters the conversation. `answer_tokens` is the room for an answer that is the whole report.
    """
    addresses = (address for entry in kit.memory.entries for address in entry.addresses)
    hands = ToolHands(kit, asker.agent, Notebook(addresses))
    chars = kit.bounds.conversation_chars if kit.bounds.shorten_conversations else None
    conversation = Conversation(opening, chars, kit.language)
    state = Exploration(asker, hands, conversation, question, kit.clock(), digest, answer_tokens=answer_tokens)
    while state.stop is None:
        reached = kit.limits.find_reached(state.turns, state.used, kit.clock() - state.began) or _find_full(kit, state)
        if reached is not None:
            state.end(reached)
        else:
            await _take_turn(kit, state)
    return state


async def _take_turn(kit: Kit, state: Exploration) -> None:
    """Take one turn. A failure is a value: the loop ends and says so."""
    try:
        temperature = ANEW if state.anew else 0.0
        reply = await _ask_act(kit, state, temperature)
        state.turns, state.anew, state.unread_chars = state.turns + 1, False, 0
        state.opening_tokens = state.opening_tokens or state.asker.latest.input_tokens
        if isinstance(reply, FaultyReply):
            _observe_fault(kit, state, reply)
        else:
            await _follow_decision(kit, state, reply)
    except BudgetSpent as spent:
        state.end(spent.reason)
    except ContextTooLong as full:
        state.context_full = True
        await _end_without_model(kit, state, full, StopReason.MAX_TOKENS)
    except ModelError as error:
        await _end_without_model(kit, state, error)


async def _ask_act(kit: Kit, state: Exploration, temperature: float) -> StepReply[AgentAct] | FaultyReply:
    """Ask for the next action within its room; with `observe_faults` a fault is a value too."""
    step, bounds, left = make_act_step(frozenset(kit.tools)), kit.bounds, _count_tokens_left(kit, state)
    room = state.answer_tokens or bounds.action_tokens or step.max_tokens
    step = replace(step, max_tokens=room if left is None else min(room, left))
    if not bounds.observe_faults:
        return await state.asker.ask(step, state.conversation.messages, temperature)
    reply = await state.asker.ask_once(step, state.conversation.messages, temperature)
    most, said = bounds.action_tokens, state.asker.latest.output_tokens
    if most and said > most and isinstance(reply, StepReply) and reply.answer.action is not ActionName.FINISH:
        return FaultyReply(reply.message, say("action_long", kit.language, n=most))
    return reply


def _count_tokens_left(kit: Kit, state: Exploration) -> int | None:
    """Return how many tokens the conversation may still have; None: no limit. Those of unread observations are estimated."""
    most, latest = kit.limits.max_conversation_tokens, state.asker.latest
    if most is None:
        return None
    return most - (latest.tokens - state.opening_tokens) - ceil(state.unread_chars / CHARS_PER_TOKEN[kit.language])


def _find_full(kit: Kit, state: Exploration) -> StopReason | None:
    left = _count_tokens_left(kit, state)
    return StopReason.MAX_TOKENS if left is not None and left <= 0 else None


def _observe_fault(kit: Kit, state: Exploration, reply: FaultyReply) -> None:
    state.conversation.add_turn(reply.message)
    _add_observation(kit, state, make_fault_observation(kit.language, reply.problem))


async def _follow_decision(kit: Kit, state: Exploration, reply: StepReply[AgentAct]) -> None:
    """Follow the model's decision; a finish before any search becomes a search for the question itself."""
    act = reply.answer
    thought = (act.thought or reply.thinking).strip()
    if thought:
        state.thoughts.append(thought[:THOUGHT_CHARS])
    if act.action is ActionName.FINISH and state.hands.calls:
        state.answer = make_safe(read_answer_tag(remove_thinking(reply.message.content)) or "")
        state.end(StopReason.SUFFICIENT)
        return
    if act.action is not ActionName.FINISH and (times := state.hands.count_repetition(act)) >= SAMPLED_ANEW:
        await _note_repetition(kit, state, times)
        return
    state.conversation.add_turn(reply.message)
    if act.action is ActionName.FINISH:
        await _observe(kit, state, make_plain_search(kit, state.question), say("too_early", kit.language))
    else:
        await _observe(kit, state, act)


async def _note_repetition(kit: Kit, state: Exploration, repetition: int) -> None:
    """Sample the turn anew, once; end the loop when the model repeats itself again."""
    if repetition > SAMPLED_ANEW:
        state.end(StopReason.REPEATING)
        return
    state.anew = True
    await kit.record.tell(EventType.WARNING, state.asker.agent, {"message": say("sampled_anew", kit.language)})


async def _observe(kit: Kit, state: Exploration, act: AgentAct, remark: str = "") -> None:
    message, spent = await state.hands.carry_out(act)
    if spent is None:
        message = await state.digest(message, state.notebook)
    if remark:
        message = message.model_copy(update={"content": f"{message.content}\n{remark}"})
    _add_observation(kit, state, message)
    if spent is not None:
        state.end(spent.reason)


def _add_observation(kit: Kit, state: Exploration, message: Message) -> None:
    left = kit.limits.max_turns - state.turns
    calls = max(0, kit.limits.max_tool_calls - state.hands.calls)
    told = say("turns_left", kit.language, n=left, calls=calls) if min(left, calls) <= FEW_LEFT else ""
    state.conversation.add_observation(message, told)
    state.unread_chars += len(message.content)


async def _end_without_model(kit: Kit, state: Exploration, error: ModelError, stop: StopReason = StopReason.FAILED) -> None:
    """End the loop because the model failed. If nothing was searched yet, search the question itself once."""
    state.turns += isinstance(error, AnswerInvalid)
    if not state.hands.calls:
        try:
            await _observe(kit, state, make_plain_search(kit, state.question))
        except BudgetSpent as spent:
            state.end(spent.reason)
            return
    state.end(stop, describe_failure(error, kit.language))
