"""Response bodies of Chat Completions; the fields and their meanings are those of OpenAI's API reference."""

from typing import Literal

from pydantic import BaseModel, Field

from app.domain.budget import Usage
from app.openai.citations import UrlCitation

FinishReason = Literal["stop", "length"]


class CitedPlace(BaseModel):
    """The place of a citation's mark: characters `start_index` to `end_index` (not included) of the content."""

    start_index: int
    end_index: int
    url: str
    title: str


class ChatCitation(BaseModel):
    """A citation of the report, in Chat Completions' form."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: CitedPlace

    @classmethod
    def of(cls, citation: UrlCitation) -> "ChatCitation":
        """Return the same citation in this form."""
        return cls(url_citation=CitedPlace(**citation.model_dump(exclude={"type"})))


class ChatUsage(BaseModel):
    """Tokens of all model calls of a run together."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "ChatUsage":
        """Return the tokens of a run's usage."""
        return cls(prompt_tokens=usage.input_tokens, completion_tokens=usage.output_tokens, total_tokens=usage.tokens)


class ChatMessage(BaseModel):
    """The report; or, in `refusal`, the reason why there is none."""

    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: str | None = None
    reasoning_content: str | None = Field(default=None, description="The steps of the work, one line each.")
    annotations: list[ChatCitation] = []


class ChatChoice(BaseModel):
    """The only choice."""

    index: Literal[0] = 0
    message: ChatMessage
    finish_reason: FinishReason
    logprobs: None = None


class ChatCompletion(BaseModel):
    """A finished run as a chat completion."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(description="Unix time, seconds.")
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage


class ChatDelta(BaseModel):
    """The new part: words of the report in `content`, or of the work so far in `reasoning_content`."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    reasoning_content: str | None = None
    refusal: str | None = None
    annotations: list[ChatCitation] | None = None


class ChunkChoice(BaseModel):
    """The only choice."""

    index: Literal[0] = 0
    delta: ChatDelta
    finish_reason: FinishReason | None = None
    logprobs: None = None


class ChatChunk(BaseModel):
    """A part of a streamed completion."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int = Field(description="Unix time, seconds.")
    model: str
    choices: list[ChunkChoice]
    usage: ChatUsage | None = None

    def to_frame(self) -> bytes:
        """Return the part as a server-sent event, without its empty fields."""
        return f"data: {self.model_dump_json(exclude_none=True)}\n\n".encode()
