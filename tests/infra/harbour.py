"""A harbour's papers, and the product running for it: mail goes to a letterbox, webhooks may go to this machine."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from infra.local.ports import find_free_port
from tests.infra.test_stack import Up
from tests.retrieval.corpora.test_folder_corpus import write_pdf

MARKER = "The zebrawood ledger was sealed with wax by the quokka society of Montevideo."
PAGES = {
    "lease.pdf": "The lease of the warehouse ends on 3 May 2031.\nThe rent of the warehouse is 4,000 euros a month.",
    "budget.pdf": "The budget of the harbour for 2025 is 12 million euros.\nThe council decided on the budget in March.",
    "tide.pdf": "The tide in the harbour rises by four metres.\nPilots board at the outer buoy.",
    "ledger.pdf": f"{MARKER}\nThe ledger of the society lists forty members.",
}
QUESTION = "When does the lease of the warehouse end?"
ABROAD = "How did presidents justify tariffs before 1900?"
LEDGER = "Who sealed the zebrawood ledger, and with what?"
PROVIDER_SECRETS = {"shared-with-the-provider", "jina-key-of-the-tests"}


class Letterbox:
    """A mail handler that keeps every mail."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        mail = message_from_bytes(envelope.original_content or b"", policy=default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"


@contextmanager
def serve_letterbox() -> Iterator[Controller]:
    """Run a mail server that keeps what it is sent."""
    controller = Controller(Letterbox(), hostname="127.0.0.1", port=find_free_port())
    controller.start()
    yield controller
    controller.stop()


@contextmanager
def start_product(folder: Path, mail: Controller) -> Iterator[Up]:
    """Run the whole product with its home in `folder`, beside the harbour's papers."""
    for name, text in PAGES.items():
        write_pdf(folder / name, [text])
    started = Up(
        folder / "home",
        RUBRICA_SMTP_HOST="127.0.0.1",
        RUBRICA_SMTP_PORT=str(mail.port),
        RUBRICA_SMTP_SECURITY="none",
        RUBRICA_SMTP_FROM="Rubrica <living@rubrica.example>",
        RUBRICA_PUBLIC_URL="https://rubrica.example",
        RUBRICA_WEBHOOK_NETWORKS="127.0.0.0/8",
        RUBRICA_OIDC_ISSUER="https://provider.invalid",
        RUBRICA_OIDC_CLIENT_ID="rubrica",
        RUBRICA_OIDC_CLIENT_SECRET="shared-with-the-provider",
        RUBRICA_JINA_API_KEY="jina-key-of-the-tests",
    )
    asyncio.run(started.ready())
    yield started
    started.end(signal.SIGTERM)
