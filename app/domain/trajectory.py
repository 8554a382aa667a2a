"""The agent's record. Every turn is stored before the next begins."""

import hashlib
from enum import StrEnum

from pydantic import Field

from app.domain.chat import ChatRequest, Completion, Message, ToolCall, ToolResult
from app.domain.value import Value


class TurnKind(StrEnum):
    """The kind of a turn: it asked a model or used a tool."""

    MODEL = "model"
    TOOL = "tool"


class Turn(Value):
    """One stored step of one agent.

    `agent` is a path such as `search/s2` or `report/section/3`; `ordinal` counts that agent's turns from 0. A model turn
    keeps only the messages added since the agent's previous model turn, preceded by `carried` messages of it. `elapsed_s` is the
    stage's own time, in seconds, at the end of this turn: an agent's clock shows it again when the turn is replayed.
    """

    agent: str
    ordinal: int = Field(ge=0)
    kind: TurnKind
    step: str
    digest: str
    carried: int = Field(default=0, ge=0)
    messages: tuple[Message, ...] = ()
    completion: Completion | None = None
    call: ToolCall | None = None
    result: ToolResult | None = None
    elapsed_s: float = Field(default=0.0, ge=0)


class TapedCall(Value):
    """A tool's call and its result. A failed call has its message as the result's `error`."""

    call: ToolCall
    result: ToolResult


class Trajectory(Value):
    """All turns of an episode, in the order in which they were stored."""

    episode: str
    turns: tuple[Turn, ...] = ()


class RequestDigests:
    """The digests of requests that follow one another: of a conversation that has grown, only the new messages are hashed."""

    def __init__(self) -> None:
        self._model = ""
        self._hashed = 0
        self._so_far = hashlib.sha256()

    def of(self, request: ChatRequest, model: str, carried: int = 0) -> str:
        """Return the digest; the request begins with `carried` messages of the one before."""
        if model != self._model or carried != self._hashed:
            self._model, self._hashed, self._so_far = model, 0, hashlib.sha256(model.encode())
        for message in request.messages[self._hashed :]:
            self._so_far.update(f"\x00{message.role}\x01{message.content}".encode())
        self._hashed = len(request.messages)
        return _finish_digest(self._so_far.copy(), request)


def request_digest(request: ChatRequest, model: str) -> str:
    """Return the SHA-256 of everything that determines a model call; a stored turn answers only its own request."""
    return RequestDigests().of(request, model)


def _finish_digest(digest: "hashlib._Hash", request: ChatRequest) -> str:
    schema = request.response_schema.name if request.response_schema else ""
    digest.update(f"\x02{schema}\x02{request.max_tokens}\x02{request.temperature}\x02{request.stop}".encode())
    if request.seed is not None:
        digest.update(f"\x02seed {request.seed}".encode())
    return digest.hexdigest()
