"""What may be asked. What would change an answer and is not done here is refused, by its name."""

from typing import Annotated, Any, Literal, TypeVar

from aiohttp import web
from pydantic import BeforeValidator, Field, ValidationError

from app.domain.chat import Message
from app.domain.errors import InvalidInput, ModelRefused
from app.domain.value import Value
from retrieval.service.json_http import read_body

JSON = "application/json"


def _make_list(stops: Any) -> Any:
    return [stops] if isinstance(stops, str) else stops or ()


class StreamOptions(Value):
    """Whether the last event of a stream tells the usage."""

    include_usage: bool = False


class SamplingBody(Value):
    """What both kinds of completion have. Only neutral values of what training does not know are taken."""

    model: str
    temperature: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    return_token_ids: bool = False
    n: Literal[1, None] = 1
    top_k: Literal[-1, 0, None] = None
    min_p: Literal[0, None] = None
    repetition_penalty: Literal[1, None] = None
    presence_penalty: Literal[0, None] = None
    frequency_penalty: Literal[0, None] = None
    user: str | None = None


class ChatBody(SamplingBody):
    """A request for an answer to a conversation. Without `max_tokens` the answer may fill the context."""

    messages: tuple[Message, ...] = Field(min_length=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    stop: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_make_list)] = ()
    stream: bool = False
    stream_options: StreamOptions | None = None
    response_format: dict[str, Any] | None = None
    logprobs: bool | None = None
    top_logprobs: Literal[0, None] = None

    @property
    def most(self) -> int | None:
        """The most tokens of the answer; None: as many as there is room for."""
        return self.max_completion_tokens or self.max_tokens

    def check(self) -> None:
        """Refuse what this server does not do.

        Raises:
            ModelRefused: the request has a schema, or asks a stream for log-probabilities.
        """
        # The message does not name the field: our client would leave it out from then on, and nobody would know.
        if self.response_format not in (None, {"type": "text"}):
            raise ModelRefused("this server constrains no answers by a schema; a model trained in tags is asked in tags")
        if self.stream and (self.logprobs or self.return_token_ids):
            raise ModelRefused("log-probabilities and token ids come with a whole answer: ask without a stream")


class TokensBody(SamplingBody):
    """A request to continue token ids, as the engine of a trainer makes it."""

    prompt: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    max_tokens: int = Field(default=16, ge=1)
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    logprobs: Literal[0, None] = None
    stream: Literal[False] = False


class LoadBody(Value):
    """A request to load the adapter in a folder."""

    lora_name: str = Field(min_length=1)
    lora_path: str = Field(min_length=1)


class UnloadBody(Value):
    """A request to take an adapter out."""

    lora_name: str = Field(min_length=1)


B = TypeVar("B", bound=Value)


async def read_request(request: web.Request, form: type[B]) -> B:
    """Read a request's body.

    Raises:
        InvalidInput: it is no JSON object of this form; the message names each fault.
    """
    if request.content_type != JSON:
        raise InvalidInput(f"Unsupported Media Type: only {JSON!r} is allowed")
    try:
        return form.model_validate(await read_body(request))
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False))
        raise InvalidInput("; ".join(faults)) from error
    except ValueError as error:
        raise InvalidInput(f"the body is no JSON: {error}") from error
