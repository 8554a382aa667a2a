"""Turn a conversation into a question: the user's last message is the question, and agents get all else as notes."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from app.domain.errors import InvalidInput
from app.http.plain_text import PLAIN
from app.openai.housekeeping import answer_housekeeping, is_housekeeping

LONGEST_INSTRUCTIONS = 4_000
LONGEST_HISTORY = 4_000
# The beginning of a note with history, which tells it from instructions when they are read back.
EARLIER = "Earlier in this conversation:\n"

Plain = Annotated[str, PLAIN]


class TextPart(BaseModel):
    """A part of a message that is text, by any of its names in the two APIs."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["text", "input_text", "output_text"]
    text: Plain


class RefusalPart(BaseModel):
    """A part of an earlier answer that says why there is no report."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["refusal"]
    refusal: Plain

    @property
    def text(self) -> str:
        """The words of the refusal."""
        return self.refusal


class InputMessage(BaseModel):
    """A message of a conversation. Reports need no pictures, files or sound."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: Plain | list[TextPart | RefusalPart] | None = Field(
        default=None, description="An earlier answer without a report has none, but a `refusal`."
    )
    refusal: Plain | None = None

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if self.content is None and self.role != "assistant":
            raise ValueError(f"a message of the role {self.role!r} needs `content`")
        return self

    @property
    def text(self) -> str:
        """All of its text."""
        if self.content is None:
            return self.refusal or ""
        return self.content if isinstance(self.content, str) else "\n".join(part.text for part in self.content)


class EarlierReasoning(BaseModel):
    """The reasoning of an earlier answer, which a client sends back with it; it is ignored."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["reasoning"]


def _kind_of(item: Any) -> str:
    kind = item.get("type", "message") if isinstance(item, dict) else getattr(item, "type", "message")
    return kind if isinstance(kind, str) else "message"


InputItem = Annotated[
    Annotated[InputMessage, Tag("message")] | Annotated[EarlierReasoning, Tag("reasoning")],
    Discriminator(
        _kind_of,
        custom_error_type="unsupported",
        custom_error_message="only messages are accepted (type `message`); put what else matters into their text",
    ),
]
Items = Annotated[list[InputItem], Field(min_length=1, max_length=1_000)]


class ConversationQuestion(NamedTuple):
    """A question, and the notes for its agents."""

    question: str
    notes: tuple[str, ...]


def read_conversation(items: Sequence[InputMessage | EarlierReasoning], instructions: str = "") -> ConversationQuestion:
    """Return the question and notes of a conversation.

    Raises:
        InvalidInput: the last message is not the user's, or the instructions are too long.
    """
    messages = [item for item in items if isinstance(item, InputMessage)]
    if not messages or messages[-1].role != "user":
        raise InvalidInput("the last message must be the user's: it is the question")
    said = [message for message in messages[:-1] if message.role in ("user", "assistant") and message.text.strip()]
    ruled = [instructions, *(message.text for message in messages if message.role in ("system", "developer"))]
    rules = "\n\n".join(text.strip() for text in ruled if text.strip())
    if len(rules) > LONGEST_INSTRUCTIONS:
        raise InvalidInput(f"the instructions have {len(rules)} characters; at most {LONGEST_INSTRUCTIONS} can be given")
    return ConversationQuestion(messages[-1].text, tuple(note for note in (rules, _write_history(said)) if note))


def find_housekeeping(items: Sequence[InputMessage | EarlierReasoning]) -> str | None:
    """Return the answer to a conversation that ends in a client's request for itself; None where it ends in a question."""
    messages = [item for item in items if isinstance(item, InputMessage)]
    if not messages or messages[-1].role != "user" or not is_housekeeping(messages[-1].text):
        return None
    return answer_housekeeping(messages[-1].text, [message.text for message in messages[:-1] if message.role == "user"])


def _write_history(messages: Sequence[InputMessage]) -> str:
    """Return the newest messages, as many as there is room for."""
    if not messages:
        return ""
    lines = "\n".join(f"{message.role}: {message.text}" for message in messages)
    return EARLIER + lines[-(LONGEST_HISTORY - len(EARLIER)) :]
