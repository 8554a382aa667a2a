"""Asking a model for a step. When the answer has the wrong form, it is asked once more and shown the error."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from app.domain.budget import Usage
from app.domain.chat import ChatRole, Completion, Message
from app.domain.errors import AnswerInvalid
from workflows.agents.answer_reading import read_answer, read_text
from workflows.agents.kit import Kit
from workflows.agents.parsing import thinking_of
from workflows.agents.steps import AnyStep, Step, StepAnswer, TextStep

A = TypeVar("A", bound=StepAnswer)
T = TypeVar("T")
SHOWN_CHARS = 2_000
CUT_OFF = "length"
MORE_ROOM = 3  # models that think at length before they answer may use up the room of the answer


def _accept_any(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class StepReply(Generic[A]):
    """An answer, the model's turn as the conversation shows it, and its private thinking."""

    answer: A
    message: Message
    thinking: str


class Asker:
    """One agent's access to the model, with a count of its usage."""

    def __init__(self, kit: Kit, agent: str) -> None:
        self.kit = kit
        self.agent = agent
        self.usage = Usage()

    async def ask(self, step: Step[A], messages: Sequence[Message]) -> StepReply[A]:
        """Return a structured answer.

        Raises:
            AnswerInvalid: both the answer and the second attempt had the wrong form.
            BudgetSpent, ModelRefused: from the record.
        """
        completion, answer = await self._ask_twice(step, messages, partial(read_answer, step))
        return StepReply(answer, self.kit.codec.to_message(completion.text), thinking_of(completion.text))

    async def write(self, step: TextStep, messages: Sequence[Message], check: Callable[[str], None] = _accept_any) -> str:
        """Return free Markdown that passes `check`, which raises AnswerInvalid. Raises as `ask` does."""

        def read(text: str) -> str:
            written = read_text(text)
            check(written)
            return written

        return (await self._ask_twice(step, messages, read))[1]

    async def _ask_twice(self, step: AnyStep, messages: Sequence[Message], read: Callable[[str], T]) -> tuple[Completion, T]:
        completion = await self._complete(step, messages)
        try:
            return completion, read(completion.text)
        except AnswerInvalid as invalid:
            again = (*messages, *self._make_correction(completion.text, str(invalid)))
        completion = await self._complete(step, again, MORE_ROOM if completion.finish_reason == CUT_OFF else 1)
        return completion, read(completion.text)

    async def _complete(self, step: AnyStep, messages: Sequence[Message], room: int = 1) -> Completion:
        request = self.kit.codec.make_request(step, messages)
        if room > 1:
            request = request.model_copy(update={"max_tokens": room * request.max_tokens})
        completion = await self.kit.record.ask(self.agent, step.name, self.kit.chat, request)
        self.usage += completion.usage
        return completion

    def _make_correction(self, text: str, problem: str) -> tuple[Message, Message]:
        retry = self.kit.prompts.get("retry", self.kit.language).render_text(problem=problem)
        return Message(role=ChatRole.ASSISTANT, content=text[:SHOWN_CHARS] or "-"), Message(role=ChatRole.USER, content=retry)
