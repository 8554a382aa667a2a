"""Two ways to ask for the same answer: a schema that the server enforces, or tags in free text (DeepRubric appendix D.1).

Reading is the same for both (`answer_reading`), because many models mix the notations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.query import Language, ResearchQuery
from retrieval.language.spoken import name_language
from workflows.agents.parsing import remove_thinking
from workflows.agents.steps import AnyStep, Step, StepAnswer, TextStep, shorten_step
from workflows.prompts.library import PromptLibrary

HISTORY_CHARS = 6_000


class StepCodec(Protocol):
    """The way to ask for a step and to put its answer into the conversation."""

    @property
    def spoken(self) -> str:
        """The language of answers; empty: that of the prompts."""
        ...

    def make_request(self, step: AnyStep, messages: Sequence[Message]) -> ChatRequest:
        """Return the request for this step."""
        ...

    def describe_form(self, step: AnyStep, prompts: PromptLibrary, language: Language) -> str:
        """Return the prompt's text about the form of the answer."""
        ...

    def to_message(self, text: str) -> Message:
        """Return the model's own turn as later requests show it."""
        ...

    def speak(self, language: str) -> "StepCodec":
        """Return the same way to ask, for answers in this language; empty: in that of the prompts."""
        ...


@dataclass(frozen=True, slots=True)
class SchemaCodec:
    """Asking by `response_format: json_schema`. A server that ignores it still reads the form in the prompt.

    `short` leaves out the fields that a small model need not fill. `spoken` names the language of answers; empty: the prompts'.
    """

    short: bool = False
    spoken: str = ""

    def speak(self, language: str) -> "SchemaCodec":
        """Return the same codec for answers in this language."""
        return replace(self, spoken=language)

    def make_request(self, step: AnyStep, messages: Sequence[Message]) -> ChatRequest:
        """Return the request for this step, with its schema."""
        schema = None if isinstance(step, TextStep) else self._form_of(step).schema
        return ChatRequest(messages=tuple(messages), response_schema=schema, max_tokens=step.max_tokens)

    def describe_form(self, step: AnyStep, prompts: PromptLibrary, language: Language) -> str:
        """Ask for one JSON object, or for plain Markdown."""
        if isinstance(step, TextStep):
            form = prompts.get("form_text", language).render_text()
        else:
            form = prompts.get("form_json", language).render_text(outline=self._form_of(step).outline)
        return _name_spoken(form, self.spoken, prompts, language)

    def _form_of(self, step: Step[StepAnswer]) -> Step[StepAnswer]:
        return shorten_step(step) if self.short else step

    def to_message(self, text: str) -> Message:
        """Return the answer without the model's private thinking."""
        return Message(role=ChatRole.ASSISTANT, content=remove_thinking(text)[:HISTORY_CHARS] or "{}")


@dataclass(frozen=True, slots=True)
class TagCodec:
    """Asking by `<think>`, `<tool_call>` and `<answer>` tags: for models trained that way, and for reinforcement learning.

    `short` and `spoken` are as for schemas.
    """

    short: bool = False
    spoken: str = ""

    def speak(self, language: str) -> "TagCodec":
        """Return the same codec for answers in this language."""
        return replace(self, spoken=language)

    def make_request(self, step: AnyStep, messages: Sequence[Message]) -> ChatRequest:
        """Return the request for this step, without a schema."""
        return ChatRequest(messages=tuple(messages), max_tokens=step.max_tokens)

    def describe_form(self, step: AnyStep, prompts: PromptLibrary, language: Language) -> str:
        """Ask for thinking first, then for the answer (or the tool call) in its tags."""
        prompt = prompts.get("form_text_tags" if isinstance(step, TextStep) else step.form, language)
        if isinstance(step, TextStep) or "outline" not in prompt.names:
            form = prompt.render_text()
        else:
            form = prompt.render_text(outline=(shorten_step(step) if self.short else step).outline)
        return _name_spoken(form, self.spoken, prompts, language)

    def to_message(self, text: str) -> Message:
        """Return the answer exactly as sampled, so that a trained conversation is a prefix of the next one."""
        return Message(role=ChatRole.ASSISTANT, content=text or " ")


def speak_as_asked(codec: StepCodec, query: ResearchQuery) -> StepCodec:
    """Return the codec for answers in the language of the question, where nobody chose another."""
    return codec.speak("" if query.language_chosen else name_language(query.question))


def _name_spoken(form: str, spoken: str, prompts: PromptLibrary, language: Language) -> str:
    """Return the form of an answer with the language of the answer, where that is not the prompts'."""
    return f"{form}\n{prompts.get('form_language', language).render_text(spoken=spoken)}" if spoken else form
