"""The conversations of a trajectory, as a policy is trained on them: what it said is trained, what it was told is not.

An agent's turns are not always one conversation: a turn after a repaired answer, a shortened history or a step of MaMs begins
anew. A conversation is a longest run of turns of one agent in which each prompt begins with all that was said before it. An
answer that was refused and asked for again is shown, but not trained; where nothing was said of it (more room, a new draw), the
next one takes its place. An answer that was cut off is not trained.
"""

from collections.abc import Iterator, Sequence

from app.domain.chat import ChatRole, Message
from app.domain.query import Language
from app.domain.trajectory import Trajectory, Turn, TurnKind
from app.domain.value import Value
from workflows.checks.answer_faults import CUT_OFF, LOOPED
from workflows.prompts.library import PromptLibrary


class TrainedMessage(Value):
    """A message of a conversation. `trained`: the policy wrote it, and learns it."""

    role: ChatRole
    content: str
    trained: bool = False


class TrainedConversation(Value):
    """One conversation of one agent; `steps` names the step of each of its turns."""

    agent: str
    steps: tuple[str, ...]
    messages: tuple[TrainedMessage, ...]

    @property
    def chars(self) -> int:
        """The characters of all messages."""
        return sum(len(message.content) for message in self.messages)


def list_conversations(trajectory: Trajectory, corrections: Sequence[str] = ()) -> list[TrainedConversation]:
    """Return all conversations with something to learn, in the order in which they began. No answer is trained in two of them.

    `corrections` are the words with which a refused answer is asked for again.
    """
    agents = dict.fromkeys(turn.agent for turn in trajectory.turns)
    by_agent = ([t for t in trajectory.turns if t.agent == agent] for agent in agents)
    found = (each for turns in by_agent for each in _list_agent(turns, tuple(corrections)))
    return [each for each in found if any(message.trained for message in each.messages)]


def corrections_of(prompts: PromptLibrary) -> list[str]:
    """Return the words with which agents ask again for a refused answer, in each language."""
    return [prompts.get("retry", language).render_text(problem="").partition(":")[0].partition("：")[0] for language in Language]


def _list_agent(turns: Sequence[Turn], corrections: tuple[str, ...]) -> Iterator[TrainedConversation]:
    asked: tuple[Message, ...] = ()
    told: list[TrainedMessage] = []
    steps: list[str] = []
    for turn in turns:
        if turn.kind is not TurnKind.MODEL or turn.completion is None:
            continue
        asks_more = bool(told) and turn.carried == len(asked)
        asked = (*asked[: turn.carried], *turn.messages)
        if asks_more and not turn.messages:
            told.pop()
            steps.pop()
        elif not (asks_more and _continues(turn.messages)):
            if told:
                yield TrainedConversation(agent=turn.agent, steps=tuple(steps), messages=tuple(told))
            told, steps = [_observe(message) for message in asked], []
        else:
            # The first new message repeats what the policy said, in the codec's form: its own words are there already.
            told += [_observe(message) for message in turn.messages[1:]]
            if corrections and turn.messages[-1].content.startswith(corrections):
                told[-2] = told[-2].model_copy(update={"trained": False})
        whole = turn.completion.finish_reason not in (CUT_OFF, LOOPED)
        told.append(TrainedMessage(role=ChatRole.ASSISTANT, content=turn.completion.text, trained=whole))
        steps.append(turn.step)
    if told:
        yield TrainedConversation(agent=turns[-1].agent, steps=tuple(steps), messages=tuple(told))


def _continues(added: Sequence[Message]) -> bool:
    """Say whether the new messages are the policy's last turn, and what it was told after it."""
    return bool(added) and added[0].role is ChatRole.ASSISTANT and all(m.role is not ChatRole.ASSISTANT for m in added[1:])


def _observe(message: Message) -> TrainedMessage:
    return TrainedMessage(role=message.role, content=message.content)
