"""The clock of one call of a model: how long it has been silent, and what has been heard of its answer.

Who makes the call reads the clock. The model's client sets it with each token, through a context variable: a `ChatModel` is
asked for whole answers and knows no other caller.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Optional

from app.domain.chat import ChatRequest, Completion
from workflows.agents.ports import ChatModel

_watching: ContextVar[Optional["CallWatch"]] = ContextVar("watching", default=None)


def _say_nothing() -> str:
    return ""


@dataclass
class CallWatch:
    """The clock of a call, or of a server: `server` hears every token that its calls hear.

    `heard_at` is when the latest token came, or else when the call began, by `time.monotonic`; `read` returns the text so far.
    """

    server: Optional["CallWatch"] = None
    heard_at: float = field(default_factory=time.monotonic)
    began: bool = False
    read: Callable[[], str] = _say_nothing

    @property
    def silent_s(self) -> float:
        """The seconds since the latest token, or since the call began."""
        return time.monotonic() - self.heard_at

    def hear(self, read: Callable[[], str] = _say_nothing) -> None:
        """Note that tokens came; `read` returns all text of the answer by now."""
        self.heard_at, self.began, self.read = time.monotonic(), True, read
        if self.server is not None:
            self.server.hear()

    async def complete(self, model: ChatModel, request: ChatRequest) -> Completion:
        """Ask the model, and watch the call. A client that is watched waits for as long as its caller does."""
        _watching.set(self)
        completion = await model.complete(request)
        self.hear()
        return completion


def watch_of_call() -> CallWatch | None:
    """Return the watch of the call under way; None where nobody watches it."""
    return _watching.get()
