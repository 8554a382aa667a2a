"""Request bodies in OpenAI's form. Unsupported fields that would change the answer are refused, with what to do instead.

Parameters of sampling and of serving, limits of tokens among them, are accepted and have no effect: the research system decides
how models are called, and a run is bounded by its budget.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.domain.errors import InvalidInput
from app.openai.conversation import (
    ConversationQuestion,
    InputMessage,
    Items,
    Plain,
    find_housekeeping,
    read_conversation,
)
from app.openai.details import ResponseDetails
from app.openai.ids import parse_response_id
from app.openai.objects import TextConfig, TextFormat

Name = Annotated[str, Field(min_length=1, max_length=200)]
Metadata = Annotated[
    dict[Annotated[Plain, Field(min_length=1, max_length=64)], Annotated[Plain, Field(max_length=512)]], Field(max_length=16)
]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
OWN_BUDGET = "a run is bounded by its budget: set one with PUT /v1/runs/{id}/budget"
REFUSED = {
    "conversation": "put what matters of the conversation into the input",
    "prompt": "stored prompts do not exist here; write the prompt into the input",
    "max_tool_calls": OWN_BUDGET,
    "functions": "the research systems use tools of their own",
    "function_call": "the research systems use tools of their own",
    "stop": "a report ends where it ends",
    "logprobs": "a report has no probabilities",
    "top_logprobs": "a report has no probabilities",
    "audio": "reports are text",
    "prediction": "there is nothing to predict a report from",
}
WITHOUT_EFFECT = frozenset(
    {
        *("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict", "num_ctx"),
        *("top_k", "top_a", "min_p", "typical_p", "repetition_penalty", "repeat_penalty", "repeat_last_n", "tfs_z"),
        *("mirostat", "mirostat_eta", "mirostat_tau", "keep_alive", "options", "think", "thinking", "enable_thinking"),
        *("chat_template_kwargs", "cache_prompt", "prompt_cache_retention", "provider", "transforms", "session_id"),
        *("chat_id", "id", "features", "variables", "background_tasks", "tool_ids", "files", "params"),
    }
)
"""What chat clients send with every request, to models of all kinds."""


class _Request(BaseModel):
    # Open here, so that the check below can say more than that a field is unknown; the OpenAPI document shows it closed.
    model_config = ConfigDict(extra="allow", json_schema_extra={"additionalProperties": False})

    temperature: float | None = None
    top_p: float | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    service_tier: str | None = None
    parallel_tool_calls: bool | None = None
    tool_choice: Literal["auto", "none"] | None = None
    metadata: Metadata | None = Field(default=None, description="Notes of your own, up to 16. They are kept with the run.")
    store: bool | None = Field(
        default=None, description="False: the response cannot be retrieved or followed here. Its run is stored in any case."
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            for name in given.keys() - cls.model_fields.keys() - WITHOUT_EFFECT:
                if given[name] is not None and (given[name] or name not in REFUSED):
                    raise ValueError(f"{str(name)[:100]!r} is not supported: {REFUSED.get(str(name), 'leave it out')}")
        return given


class WebSearch(BaseModel):
    """A web search tool, accepted for OpenAI's clients: the systems search by themselves in any case."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["web_search", "web_search_preview"]


class Reasoning(BaseModel):
    """The effort, where the model id does not give it."""

    model_config = ConfigDict(extra="ignore")

    effort: ReasoningEffort | None = None


class StreamOptions(BaseModel):
    """The options of a stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class NewResponse(_Request):
    """A question to research. Without `background` and `stream`, the request waits for the answer."""

    model: Name
    input: Plain | Items
    previous_response_id: Name | None = Field(
        default=None, description="Ask a further question, which is answered from the evidence of that response's run."
    )
    instructions: Plain | None = None
    background: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    reasoning: Reasoning | None = None
    tools: list[WebSearch] | None = Field(default=None, max_length=20)
    text: TextConfig | None = None
    include: list[str] | None = None
    truncation: Literal["auto", "disabled"] | None = None

    def to_question(self) -> ConversationQuestion:
        """Return the question and its notes.

        Raises:
            InvalidInput: there is no question in it.
        """
        items = [InputMessage(role="user", content=self.input)] if isinstance(self.input, str) else self.input
        if find_housekeeping(items) is not None:
            raise InvalidInput(
                "this asks for a title, tags or the like for a client's own use, and starts no research; "
                "let the client ask another model for them"
            )
        asked = read_conversation(items, self.instructions or "")
        if self.previous_response_id is not None and asked.notes:
            raise InvalidInput("a further question stands alone: put instructions and earlier messages into its text")
        return asked

    def to_details(self) -> ResponseDetails:
        """Return what is kept along with the response.

        Raises:
            InvalidInput: it is to be retrieved later, and not to be kept.
            NotFound: the earlier response's id is none.
        """
        if self.background and self.store is False:
            raise InvalidInput("a response in the background is retrieved later, so `store` cannot be false")
        previous = parse_response_id(self.previous_response_id) if self.previous_response_id is not None else None
        return ResponseDetails(metadata=self.metadata or {}, previous=previous, retrievable=self.store is not False)


class NewChatCompletion(_Request):
    """A conversation whose last message is the question to research."""

    model: Name
    messages: Items
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    reasoning_effort: ReasoningEffort | None = None
    response_format: TextFormat | None = None
    tools: list[WebSearch] | None = Field(default=None, max_length=0)
    web_search_options: dict[str, Any] | None = Field(default=None, description="The systems search by themselves.")
    modalities: list[Literal["text"]] | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None

    def to_question(self) -> ConversationQuestion:
        """Return the question and its notes.

        Raises:
            InvalidInput: the last message is not the user's.
        """
        return read_conversation(self.messages)

    def find_own_answer(self) -> str | None:
        """Return the answer to a client's request for itself (a title, tags); None where this is a question."""
        return find_housekeeping(self.messages)
