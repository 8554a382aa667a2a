"""Messages, model calls and tool calls, in the form every agent and every adapter shares."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from app.domain.budget import Usage
from app.domain.evidence import Passage
from app.domain.reading import Reading
from app.domain.value import Value


class ChatRole(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class ShownPassage(Value):
    """A passage under the short id (`p3`) by which a message shows it. `key` is the passage's."""

    id: str
    key: str


class Message(Value):
    """One message of a conversation. Observations are user messages, so that every server accepts them.

    `shown` says which passages the short ids in `content` name. No server gets it, and no digest depends on it.
    """

    role: ChatRole
    content: str
    shown: tuple[ShownPassage, ...] = ()


class ResponseSchema(Value):
    """The JSON schema an answer must satisfy (`response_format: json_schema`)."""

    name: str
    schema_: dict[str, Any] = Field(alias="schema")


class ChatRequest(Value):
    """What is asked of a model. `response_schema` None means unconstrained text.

    Another `seed` asks for another sample of the same, which a record keeps beside it; None: any sample will do.
    """

    messages: tuple[Message, ...]
    response_schema: ResponseSchema | None = None
    max_tokens: int = Field(default=4_096, ge=1)
    temperature: float = Field(default=0.0, ge=0)
    stop: tuple[str, ...] = ()
    seed: int | None = None


class SampledTokens(Value):
    """Token ids of one sampled answer, for reinforcement learning.

    The answer was sampled after the first `carried` ids of the chain `conversation`, then `prompt_ids`; these and
    `completion_ids` extend the chain. With nothing carried a new chain begins. `logprobs` are natural log-probabilities, one for
    each completion id. `policy_version` counts the updates of the weights that sampled it.
    """

    conversation: str = ""
    carried: int = Field(default=0, ge=0)
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    policy_version: int = Field(default=0, ge=0)


class Completion(Value):
    """A model's answer. `sampled` is kept when the model is a training sampler.

    `estimated` is true when the server stated no usage and the tokens were counted approximately from the texts.
    """

    text: str
    model: str
    finish_reason: str = "stop"
    usage: Usage = Usage()
    estimated: bool = False
    sampled: SampledTokens | None = None


class ToolCall(Value):
    """An agent's request to a tool."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Suspicion(Value):
    """A source whose text tries to instruct the agent: how (names of rules), and how many of its passages were kept from it."""

    url: str
    title: str
    patterns: tuple[str, ...]
    withheld: int = 0


class ToolResult(Value):
    """What a tool brought back: passages, or an error the agent may react to. `note` is for the agent ("part 1 of 3").

    `suspicious` is for the run's watchers. `readings` answers a call that asks how words are spelt: those that nothing holds.
    `cosines` answers a call that compares texts with its query by meaning, `ratings` one that rates how well texts answer it: one
    for each text, or none where nothing can.
    """

    passages: tuple[Passage, ...] = ()
    suspicious: tuple[Suspicion, ...] = ()
    error: str = ""
    note: str = ""
    readings: tuple[Reading, ...] = ()
    cosines: tuple[float, ...] = ()
    ratings: tuple[float, ...] = ()
    usage: Usage = Usage(tool_calls=1)
