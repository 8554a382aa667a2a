"""Sign messages by the Standard Webhooks specification (https://www.standardwebhooks.com).

The receiver of a message can verify that we sent it, when, and that nobody changed it.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

PREFIX = "whsec_"
# The specification asks for 24 to 64 bytes.
BYTES = 32


def new_secret() -> str:
    """Return a secret in the form that its receiver stores: `whsec_` and base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def message_id_of(delivery: UUID) -> str:
    """Return the message's name, the same in every attempt: a receiver may ignore a name it has seen."""
    return f"msg_{delivery.hex}"


def sign_headers(delivery: UUID, at: datetime, body: bytes, signing: Sequence[str]) -> dict[str, str]:
    """Return the headers that go with `body`; one signature for each of the `signing` secrets."""
    name, seconds = message_id_of(delivery), int(at.timestamp())
    content = b"%b.%d.%b" % (name.encode(), seconds, body)
    return {
        "webhook-id": name,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(sign_content(secret, content) for secret in signing),
    }


def sign_content(secret: str, content: bytes) -> str:
    """Return the signature of a message's name, time and body, which full stops join."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
