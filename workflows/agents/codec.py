"""Two ways to ask for the same answer: a schema that the server enforces, or tags in free text (DeepRubric appendix D.1).

Reading is the same for both (`answer_reading`), because many models mix the notations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.query import Language
from workflows.agents.parsing import remove_thinking
from workflows.agents.steps import AnyStep, Step, StepAnswer, TextStep, shorten_step
from workflows.prompts.library import PromptLibrary

HISTORY_CHARS = 6_000


class StepCodec(Protocol):
    """The way to ask for a step and to put its answer into the conversation."""

    def make_request(self, step: AnyStep, messages: Sequence[Message]) -> ChatRequest:
        """Return the request for this step."""
        ...

    def describe_form(self, step: AnyStep, prompts: PromptLibrary, language: Language) -> str:
        """Return the prompt's text about the form of the answer."""
        ...

    def to_message(self, text: str) -> Message:
        """Return the model's own turn as later requests show it."""
        ...


@dataclass(frozen=True, slots=True)
class SchemaCodec:
    """Asking by `response_format: json_schema`. A server that ignores it still reads the form in the prompt.

    `short` leaves out the fields that a small model need not fill.
    """

    short: bool = False

    def make_request(self, step: AnyStep, messages: Sequence[Message]) -> ChatRequest:
        """Return the request for this step, with its schema."""
        schema = None if isinstance(step, TextStep) else self._form_of(step).schema
        return ChatRequest(messages=tuple(messages), response_schema=schema, max_tokens=step.max_tokens)

    def describe_form(self, step: AnyStep, prompts: PromptLibrary, language: Language) -> str:
        """Ask for one JSON object, or for plain Markdown."""
        if isinstance(step, TextStep):
            return prompts.get("form_text", language).render_text()
        return prompts.get("form_json", language).render_text(outline=self._form_of(step).outline)

    def _form_of(self, step: Step[StepAnswer]) -> Step[StepAnswer]:
        return shorten_step(step) if self.short else step

    def to_message(self, text: str) -> Message:
        """Return the answer without the model's private thinking."""
        return Message(role=ChatRole.ASSISTANT, content=remove_thinking(text)[:HISTORY_CHARS] or "{}")


@dataclass(frozen=True, slots=True)
class TagCodec:
    """Asking by `<think>`, `<tool_call>` and `<answer>` tags: for models trained that way, and for reinforcement learning.

    `short` is as for schemas.
    """

    short: bool = False

    def make_request(self, step: AnyStep, messages: Sequence[Message]) -> ChatRequest:
        """Return the request for this step, without a schema."""
        return ChatRequest(messages=tuple(messages), max_tokens=step.max_tokens)

    def describe_form(self, step: AnyStep, prompts: PromptLibrary, language: Language) -> str:
        """Ask for thinking first, then for the answer (or the tool call) in its tags."""
        if isinstance(step, TextStep):
            return prompts.get("form_text_tags", language).render_text()
        prompt = prompts.get(step.form, language)
        outline = (shorten_step(step) if self.short else step).outline
        return prompt.render_text(outline=outline) if "outline" in prompt.names else prompt.render_text()

    def to_message(self, text: str) -> Message:
        """Return the answer exactly as sampled, so that a trained conversation is a prefix of the next one."""
        return Message(role=ChatRole.ASSISTANT, content=text or " ")
