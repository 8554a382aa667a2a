"""Asking a model for a step. An answer that is cut off, loops, echoes its prompt or has the wrong form is asked for again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, TypeVar

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, ChatRole, Completion, Message
from app.domain.errors import AnswerInvalid
from app.domain.run import EventType
from workflows.agents.answer_reading import read_answer, read_text
from workflows.agents.failures import refuse_answer
from workflows.agents.kit import Kit
from workflows.agents.parsing import remove_thinking, thinking_of
from workflows.agents.steps import AnyStep, Step, StepAnswer, TextStep
from workflows.agents.wording import say
from workflows.checks.answer_faults import AnswerFault, FoundAnswerFault, PromptWords, find_answer_fault

A = TypeVar("A", bound=StepAnswer)
T = TypeVar("T")
SHOWN_CHARS, LOOP_SHOWN_CHARS, SHOWN_ECHO_CHARS = 2_000, 200, 80
MORE_ROOM = 3  # models that think at length before they answer may use up the room of the answer
ANEW = 0.7
"""The temperature after a loop, an echo or a repeated tool call: at the first temperature the same words would come again."""


def _accept_any(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class StepReply(Generic[A]):
    """An answer, the model's turn as the conversation shows it, and its private thinking."""

    answer: A
    message: Message
    thinking: str


@dataclass(frozen=True, slots=True)
class FaultyReply:
    """A turn of the model that cannot be used, and what is wrong with it."""

    message: Message
    problem: str


class Asker:
    """One agent's access to the model, with a count of its usage; `latest` is that of the last call."""

    def __init__(self, kit: Kit, agent: str) -> None:
        self.kit = kit
        self.agent = agent
        self.usage = self.latest = Usage()

    async def ask(self, step: Step[A], messages: Sequence[Message], temperature: float = 0.0) -> StepReply[A]:
        """Return a structured answer, sampled at this temperature.

        Raises:
            AnswerInvalid: the answer and the further attempts were cut off, looped, echoed the prompt or had the wrong form.
            BudgetSpent, ModelRefused: from the record.
        """
        completion, answer = await self._ask_until_valid(step, messages, partial(read_answer, step), temperature)
        return StepReply(answer, self.kit.codec.to_message(completion.text), thinking_of(completion.text))

    async def ask_once(self, step: Step[A], messages: Sequence[Message], temperature: float = 0.0) -> StepReply[A] | FaultyReply:
        """Return a structured answer, or the model's turn with its fault; nothing is asked again.

        Raises:
            BudgetSpent, ModelRefused: from the record.
        """
        request = self.kit.codec.make_request(step, messages).model_copy(update={"temperature": temperature})
        completion = await self._complete(step, request)
        message, fault = self.kit.codec.to_message(completion.text), self._find_fault(step, completion)
        if fault is not None:
            return FaultyReply(message, str(self._refuse_fault(fault)))
        try:
            return StepReply(read_answer(step, completion.text), message, thinking_of(completion.text))
        except AnswerInvalid as invalid:
            return FaultyReply(message, str(invalid))

    async def write(self, step: TextStep, messages: Sequence[Message], check: Callable[[str], None] = _accept_any) -> str:
        """Return free Markdown that passes `check`, which raises AnswerInvalid. Raises as `ask` does."""

        def read(text: str) -> str:
            written = read_text(text)
            check(written)
            return written

        return (await self._ask_until_valid(step, messages, read))[1]

    async def _ask_until_valid(
        self, step: AnyStep, messages: Sequence[Message], read: Callable[[str], T], temperature: float = 0.0
    ) -> tuple[Completion, T]:
        """Ask for an answer. When it is cut off there is more room for it, once; any other fault is shown to the model, once."""
        first = self.kit.codec.make_request(step, messages)
        first = first.model_copy(update={"temperature": temperature}) if temperature else first
        request = first
        while True:
            completion = await self._complete(step, request)
            fault = self._find_fault(step, completion)
            try:
                if fault is not None:
                    raise self._refuse_fault(fault)
                return completion, read(completion.text)
            except AnswerInvalid as invalid:
                following = self._change_request(request, first, completion.text, fault, str(invalid))
                if following is None:
                    raise
                request = following
                if fault is not None:
                    await self._tell_refusal(step, str(invalid))

    def _find_fault(self, step: AnyStep, completion: Completion) -> FoundAnswerFault | None:
        form = "" if isinstance(step, TextStep) else step.outline
        said = remove_thinking(completion.text)
        return find_answer_fault(said, completion.finish_reason, _prompt_words_of(self.kit.prompts.literals), form)

    def _change_request(
        self, request: ChatRequest, first: ChatRequest, text: str, fault: FoundAnswerFault | None, problem: str
    ) -> ChatRequest | None:
        """Return the request to make after a refused answer; None when nothing is left to try."""
        if fault is not None and fault.fault is AnswerFault.CUT and request.max_tokens == first.max_tokens:
            return request.model_copy(update={"max_tokens": MORE_ROOM * first.max_tokens})
        if request.messages != first.messages:
            return None
        wandering = fault is not None and fault.fault is not AnswerFault.CUT
        shown = text[: LOOP_SHOWN_CHARS if wandering else SHOWN_CHARS]
        messages = (*first.messages, *self._make_correction(shown, problem))
        return request.model_copy(update={"messages": messages} | ({"temperature": ANEW} if wandering else {}))

    async def _complete(self, step: AnyStep, request: ChatRequest) -> Completion:
        completion = await self.kit.record.ask(self.agent, step.name, self.kit.chat, request)
        self.usage, self.latest = self.usage + completion.usage, completion.usage
        return completion

    def _refuse_fault(self, found: FoundAnswerFault) -> AnswerInvalid:
        language = self.kit.language
        if found.fault is AnswerFault.ECHO:
            return refuse_answer("answer_echo", language, shown=" ".join(found.shown.split())[:SHOWN_ECHO_CHARS])
        return refuse_answer("answer_loop" if found.fault is AnswerFault.LOOP else "answer_cut", language)

    async def _tell_refusal(self, step: AnyStep, problem: str) -> None:
        message = say("answer_refused", self.kit.language, step=step.name, problem=problem)
        await self.kit.record.tell(EventType.WARNING, self.agent, {"message": message})

    def _make_correction(self, text: str, problem: str) -> tuple[Message, Message]:
        retry = self.kit.prompts.get("retry", self.kit.language).render_text(problem=problem)
        return Message(role=ChatRole.ASSISTANT, content=text or "-"), Message(role=ChatRole.USER, content=retry)


@lru_cache(maxsize=8)
def _prompt_words_of(literals: tuple[str, ...]) -> PromptWords:
    return PromptWords.of(literals)
