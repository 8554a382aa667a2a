"""The act-observe loop: think, act, observe, until the evidence suffices or a limit is reached (MindDR section 3.1)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from app.domain.budget import StopReason, Usage
from app.domain.chat import Message
from app.domain.errors import AnswerInvalid, ContextTooLong, ModelError
from app.domain.run import EventType
from workflows.agents.actions import ActionName, AgentAct, make_act_step
from workflows.agents.asker import ANEW, Asker, StepReply
from workflows.agents.conversation import Conversation
from workflows.agents.kit import Kit
from workflows.agents.notebook import Notebook
from workflows.agents.ports import BudgetSpent
from workflows.agents.tool_hands import ToolHands, make_plain_search
from workflows.agents.wording import say

THOUGHT_CHARS = 2_000
SAMPLED_ANEW = 2
"""The first repetition of a call is told to the model, the second is taken back and sampled anew, the third ends the loop."""
ObservationDigest: TypeAlias = Callable[[Message, Notebook], Awaitable[Message]]


async def keep_observation(message: Message, _: Notebook) -> Message:
    """Return the observation unchanged."""
    return message


@dataclass
class Exploration:
    """The state of a loop: the conversation, the passages seen, the thoughts; at the end, the reason why it stopped.

    `anew` says that the next turn is sampled at a temperature, because this one repeated itself.
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
    kit: Kit, asker: Asker, opening: Sequence[Message], question: str, digest: ObservationDigest = keep_observation
) -> Exploration:
    """Search until done. The result always says why it stopped; only errors that halt the run are raised.

    `question` itself is searched when the model wants to finish before it has searched, or cannot act. `digest` turns an
    observation into the message that enters the conversation.
    """
    addresses = (address for entry in kit.memory.entries for address in entry.addresses)
    hands = ToolHands(kit, asker.agent, Notebook(addresses))
    chars = kit.bounds.conversation_chars if kit.bounds.shorten_conversations else None
    conversation = Conversation(opening, chars, kit.language)
    state = Exploration(asker, hands, conversation, question, kit.clock(), digest)
    while state.stop is None:
        reached = kit.limits.find_reached(state.turns, state.used, kit.clock() - state.began)
        if reached is not None:
            state.end(reached)
        else:
            await _take_turn(kit, state)
    return state


async def _take_turn(kit: Kit, state: Exploration) -> None:
    """Take one turn. A failure is a value: the loop ends and says so."""
    try:
        temperature = ANEW if state.anew else 0.0
        reply = await state.asker.ask(make_act_step(frozenset(kit.tools)), state.conversation.messages, temperature)
        state.turns, state.anew = state.turns + 1, False
        await _follow_decision(kit, state, reply)
    except BudgetSpent as spent:
        state.end(spent.reason)
    except ContextTooLong as full:
        state.context_full = True
        await _end_without_model(kit, state, full, StopReason.MAX_TOKENS)
    except ModelError as error:
        await _end_without_model(kit, state, error)


async def _follow_decision(kit: Kit, state: Exploration, reply: StepReply[AgentAct]) -> None:
    """Follow the model's decision; a finish before any search becomes a search for the question itself."""
    act = reply.answer
    thought = (act.thought or reply.thinking).strip()
    if thought:
        state.thoughts.append(thought[:THOUGHT_CHARS])
    if act.action is ActionName.FINISH and state.hands.calls:
        state.end(StopReason.SUFFICIENT)
        return
    repetition = state.hands.count_repetition(act) if act.action is not ActionName.FINISH else 0
    if repetition >= SAMPLED_ANEW:
        await _note_repetition(kit, state, repetition)
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
    left = kit.limits.max_turns - state.turns
    state.conversation.add_observation(message, say("turns_left", kit.language, n=left) if left <= 2 else "")
    if spent is not None:
        state.end(spent.reason)


async def _end_without_model(kit: Kit, state: Exploration, error: ModelError, stop: StopReason = StopReason.FAILED) -> None:
    """End the loop because the model failed. If nothing was searched yet, search the question itself once."""
    state.turns += isinstance(error, AnswerInvalid)
    if not state.hands.calls:
        try:
            await _observe(kit, state, make_plain_search(kit, state.question))
        except BudgetSpent as spent:
            state.end(spent.reason)
            return
    state.end(stop, str(error))
