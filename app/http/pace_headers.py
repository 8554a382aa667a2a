"""Tell clients in every response how much of a limit is left (draft-ietf-httpapi-ratelimit-headers)."""

import math

from litestar.types import Message, Send

from app.quotas.service import MINUTE, Admission

SECONDS = int(MINUTE.total_seconds())


def add_pace_headers(send: Send, admission: Admission) -> Send:
    """Add `RateLimit-Policy` (requests per seconds) and `RateLimit` (what is left, and seconds until the full limit is back)."""
    taken = admission.taken
    headers = [
        (b"ratelimit-policy", f'"minute";q={admission.limit};w={SECONDS}'.encode()),
        (b"ratelimit", f'"minute";r={taken.remaining};t={math.ceil(taken.full_in.total_seconds())}'.encode()),
    ]

    async def reply(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *headers]
        await send(message)

    return reply
