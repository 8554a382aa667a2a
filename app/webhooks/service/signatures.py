"""Signatures by the Standard Webhooks specification (https://www.standardwebhooks.com).

Who receives a message can tell that we sent it, when, and that nobody changed it.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

PREFIX = "whsec_"
# The specification asks for 24 to 64.
BYTES = 32


def new_secret() -> str:
    """A secret as its receiver writes it down: `whsec_` and base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def message_id(delivery: UUID) -> str:
    """The message's name, the same in every attempt: a receiver that has seen it may pass over it."""
    return f"msg_{delivery.hex}"


def signed_headers(delivery: UUID, at: datetime, body: bytes, signing: Sequence[str]) -> dict[str, str]:
    """The headers that go with `body`; one signature for each of the `signing` secrets."""
    name, seconds = message_id(delivery), int(at.timestamp())
    content = b"%b.%d.%b" % (name.encode(), seconds, body)
    return {
        "webhook-id": name,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(_signature(secret, content) for secret in signing),
    }


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
