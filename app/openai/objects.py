"""Response bodies of the Responses API; the fields and their meanings are those of OpenAI's API reference."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.domain.budget import Usage
from app.openai.citations import UrlCitation

ItemStatus = Literal["in_progress", "completed", "incomplete"]
ResponseStatus = Literal["queued", "in_progress", "completed", "failed", "cancelled", "incomplete"]


class InputTokensDetails(BaseModel):
    """The origin of input tokens; a server's cache is not known here."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokensDetails(BaseModel):
    """The use of output tokens; reasoning is not counted separately."""

    reasoning_tokens: int = 0


class ResponseUsage(BaseModel):
    """Tokens of all model calls of a run together."""

    input_tokens: int
    input_tokens_details: InputTokensDetails = InputTokensDetails()
    output_tokens: int
    output_tokens_details: OutputTokensDetails = OutputTokensDetails()
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "ResponseUsage":
        """Return the tokens of a run's usage."""
        return cls(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, total_tokens=usage.tokens)


class SummaryText(BaseModel):
    """One step of the work, on one line."""

    type: Literal["summary_text"] = "summary_text"
    text: str


class ReasoningItem(BaseModel):
    """The steps of the work, one line each."""

    type: Literal["reasoning"] = "reasoning"
    id: str
    summary: list[SummaryText]
    status: ItemStatus


class OutputText(BaseModel):
    """The report as Markdown, with its citations. Indices count characters."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[UrlCitation] = []
    logprobs: list[str] = Field(default=[], max_length=0)


class OutputMessage(BaseModel):
    """The report."""

    type: Literal["message"] = "message"
    id: str
    role: Literal["assistant"] = "assistant"
    status: ItemStatus
    content: list[OutputText]


OutputItem = Annotated[ReasoningItem | OutputMessage, Field(discriminator="type")]


class ResponseError(BaseModel):
    """The reason why a response failed."""

    code: Literal["server_error"] = "server_error"
    message: str


class IncompleteDetails(BaseModel):
    """The reason why a response waits: its budget of tokens, money or time is spent. It continues when the budget is raised."""

    reason: Literal["max_output_tokens"] = "max_output_tokens"


class TextFormat(BaseModel):
    """The only format: reports are text."""

    type: Literal["text"] = "text"


class TextConfig(BaseModel):
    """The form of the answer."""

    format: TextFormat = TextFormat()


class Response(BaseModel):
    """A run as OpenAI's Responses API shows one. What a run does not know has the value that means "as usual" there."""

    id: str
    object: Literal["response"] = "response"
    created_at: int = Field(description="Unix time, seconds.")
    completed_at: int | None = Field(default=None, description="Unix time, seconds.")
    status: ResponseStatus
    background: Literal[True] = Field(default=True, description="Runs always continue without their client.")
    model: str
    output: list[OutputItem] = []
    error: ResponseError | None = None
    incomplete_details: IncompleteDetails | None = None
    instructions: str | None = None
    metadata: dict[str, str] = {}
    max_output_tokens: None = None
    max_tool_calls: None = None
    parallel_tool_calls: bool = True
    presence_penalty: float = 0
    frequency_penalty: float = 0
    previous_response_id: str | None = None
    prompt_cache_key: None = None
    reasoning: None = None
    safety_identifier: None = None
    service_tier: Literal["default"] = "default"
    store: bool = True
    temperature: float = 1
    text: TextConfig = TextConfig()
    tool_choice: Literal["auto"] = "auto"
    tools: list[str] = Field(default=[], max_length=0)
    top_logprobs: int = 0
    top_p: float = 1
    truncation: Literal["disabled"] = "disabled"
    usage: ResponseUsage | None = None


class StreamEvent(BaseModel):
    """An event of a streamed response. Its type determines its fields."""

    type: str = Field(description="`response.created`, `response.output_text.delta`, ...")
    sequence_number: int = Field(description="Counts from 0; `starting_after` takes it.")
    response: Response | None = None
    item: OutputItem | None = None
    part: OutputText | SummaryText | None = None
    annotation: UrlCitation | None = None
    item_id: str = ""
    output_index: int = 0
    content_index: int = 0
    summary_index: int = 0
    annotation_index: int = 0
    delta: str = ""
    text: str = ""
    logprobs: list[str] = Field(default=[], max_length=0)

    def to_frame(self) -> bytes:
        """Return the event as a server-sent event, with only the fields of its type."""
        return f"event: {self.type}\ndata: {self.model_dump_json(include=self.model_fields_set)}\n\n".encode()


class InputText(BaseModel):
    """Words that a response was asked with."""

    type: Literal["input_text"] = "input_text"
    text: str


class InputItem(BaseModel):
    """A message that a response was asked with."""

    type: Literal["message"] = "message"
    id: str
    role: Literal["user", "developer"]
    status: Literal["completed"] = "completed"
    content: list[InputText]


class InputItemList(BaseModel):
    """What a response was asked with: a page of it."""

    object: Literal["list"] = "list"
    data: list[InputItem]
    first_id: str | None
    last_id: str | None
    has_more: bool


class DeletedResponse(BaseModel):
    """The answer to a deletion."""

    id: str
    object: Literal["response"] = "response"
    deleted: Literal[True] = True


class ModelObject(BaseModel):
    """A system with an effort."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(description="Unix time, seconds.")
    owned_by: str = "rubrica"


class ModelList(BaseModel):
    """The models."""

    object: Literal["list"] = "list"
    data: list[ModelObject]
