"""Standard Webhooks: the published vector, and messages that we sign, read by two libraries of the specification's authors."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from standardwebhooks import Webhook, WebhookVerificationError

from app.webhooks.service.signatures import new_secret, sign_content, sign_headers
from bench.conformance.outcome import Outcome, count_checks
from bench.conformance.packages import find_node, find_package

# As the libraries of the specification's authors have it in their own tests.
VECTOR = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}')
SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
BODIES = {
    "a short body": b'{"test": 2432232314}',
    "words of many scripts": '{"about": "关税 — naïve \U0001f600"}'.encode(),
    "an empty object": b"{}",
    "a long body": b'{"text": "%b"}' % (b"word " * 50_000),
}
VERIFY = """
const { Webhook } = require(process.argv[1]);
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(asked.map(({ secret, body, headers }) => {
  try { new Webhook(secret).verify(body, headers); return true; } catch (error) { return false; }
})));
"""


def check_webhooks(folder: Path) -> Outcome:
    """Check the vector, then each message: it is accepted as sent, and by an old secret; changed or under another it is not."""
    checks = [("the published vector", "" if sign_content(*VECTOR) == SIGNED else "another signature")]
    messages = list(_make_messages())
    by_javascript = _verify_in_javascript(folder, [message for _, message, _ in messages])
    for (name, message, good), theirs in zip(messages, by_javascript, strict=True):
        for library, found in (("Python", _verify_in_python(message)), ("JavaScript", theirs)):
            checks.append((f"{library}: {name}", "" if found is good else f"it is {'refused' if good else 'accepted'}"))
    return count_checks(checks)


def _make_messages() -> Iterator[tuple[str, dict[str, Any], bool]]:
    new, old = new_secret(), new_secret()
    for name, body in BODIES.items():
        headers = sign_headers(UUID(int=7), datetime.now(UTC), body, (new, old))
        sent: dict[str, Any] = {"secret": new, "body": body.decode(), "headers": headers}
        yield name, sent, True
        yield f"{name}, by the secret before", sent | {"secret": old}, True
        yield f"{name}, by another secret", sent | {"secret": new_secret()}, False
        yield f"{name}, changed", sent | {"body": body.decode() + " "}, False
        yield f"{name}, under another name", sent | {"headers": headers | {"webhook-id": "msg_8"}}, False
        yield f"{name}, of another time", sent | {"headers": headers | {"webhook-timestamp": "1614265330"}}, False


def _verify_in_python(message: dict[str, Any]) -> bool:
    try:
        Webhook(message["secret"]).verify(message["body"], message["headers"])
    except WebhookVerificationError:
        return False
    return True


def _verify_in_javascript(folder: Path, messages: list[dict[str, Any]]) -> list[bool]:
    command = [find_node(folder), "-e", VERIFY, str(find_package(folder, "standardwebhooks"))]
    done = subprocess.run(command, input=json.dumps(messages), capture_output=True, text=True, check=True)
    found: list[bool] = json.loads(done.stdout)
    return found
