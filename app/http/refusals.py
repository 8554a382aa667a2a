"""Answer a request that no handler sees: the guard, the server and its end refuse with the same problem as every route."""

from typing import NamedTuple

import orjson
from litestar.types import Send

from app.http.problems import MEDIA_TYPE, problem_type

Headers = list[tuple[bytes, bytes]]


class RequestRefusal(NamedTuple):
    """The reason why a request is not answered. `retry_s`: the seconds after which it may be sent again."""

    status: int
    name: str
    title: str
    detail: str
    retry_s: int | None = None

    @property
    def body(self) -> bytes:
        """The problem, as JSON."""
        return orjson.dumps({"type": problem_type(self.name), "title": self.title, "status": self.status, "detail": self.detail})

    @property
    def headers(self) -> Headers:
        """The headers that go with it."""
        retry = [(b"retry-after", b"%d" % self.retry_s)] if self.retry_s is not None else []
        return [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(self.body)), *retry]


async def send_refusal(send: Send, refusal: RequestRefusal) -> None:
    """Answer with the problem."""
    await send({"type": "http.response.start", "status": refusal.status, "headers": refusal.headers})
    await send({"type": "http.response.body", "body": refusal.body, "more_body": False})
