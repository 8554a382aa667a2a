"""Mail about changes, handed to a real SMTP server that takes it, refuses it, is slow, or is not there."""

import asyncio
import email
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import default
from uuid import UUID, uuid4

import asyncpg
import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from app.domain.changes import FallenClaim, FallReason, PassageChange, ReportChanges, ShownWords
from app.domain.claims import Support
from app.domain.query import Language, ResearchQuery
from app.domain.schedules import Firing, Outcome
from app.outgoing.mail import Mailbox, MailRefused, MailUnavailable
from app.setting_values import MailSecurity
from bench.private_house import FIRING, add_people
from tests.support.patience import PATIENCE_S
from workflows.durable.change_mail import ChangeLetter, make_message
from workflows.durable.mail_delivery import deliver

NOW = datetime(2026, 1, 5, 8, tzinfo=UTC)
SCHEDULE = UUID(int=7)
DRAWER = """
    INSERT INTO collections (id, organisation_id, name, everyone, users, created_by)
    VALUES ($1, $2, 'Drawer', false, ARRAY[$3::uuid], NULL)"""
SEARCHED = "INSERT INTO collection_runs (collection_id, run_id, organisation_id) VALUES ($1, $2, $3)"
SCHEDULED = """
    INSERT INTO schedules (id, organisation_id, name, query, cron, time_zone, jitter_s, overlap, created_by)
    VALUES (gen_random_uuid(), $1, 'Weekly', $2, '0 8 * * mon', 'UTC', 0, 'skip', NULL)"""
DELIVERY = "INSERT INTO deliveries (id, schedule_id, organisation_id, due_at, address) VALUES ($1, $2, $3, $4, $5)"
WAS = ShownWords(title="Budget <2025>", url="file:///Harbour/budget.pdf", text='The budget is 12 million & "fixed".')
IS = ShownWords(
    title="Budget <2025>", url="file:///Harbour/budget.pdf", text="The budget is 17 million.\r\nBcc: victim@example.org"
)
CHANGES = ReportChanges(
    passages=(PassageChange(before=WAS, after=IS),),
    fallen=(FallenClaim(claim=WAS.text, why=FallReason.CHANGED, support=Support.NONE, before=(WAS,), after=(IS,)),),
)
LETTER = ChangeLetter(
    schedule="Harbour\r\nBcc: victim@example.org\r\n\r\n<script>alert(1)</script>",
    question="What does the harbour cost?",
    firing=Firing(schedule_id=SCHEDULE, due_at=NOW, outcome=Outcome.CHANGED, changes=CHANGES, started_at=NOW),
    report="https://rubrica.example/read?run=1",
    unsubscribe=f"https://research.rubrica.example/v1/unsubscribe/{UUID(int=2)}",
)


@dataclass
class Server:
    """A mail server. `reply` is what it says to a message; `slow` is how long it thinks about it, in seconds."""

    reply: str = "250 OK"
    to_recipient: str = "250 OK"
    slow: float = 0.0
    taken: list[Envelope] = field(default_factory=list)

    async def handle_RCPT(self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]) -> str:
        if self.to_recipient.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.to_recipient

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        await asyncio.sleep(self.slow)
        if self.reply.startswith("250"):
            self.taken.append(envelope)
        return self.reply


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Mailbox]:
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: SMTP(server, enable_SMTPUTF8=True), "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    yield Mailbox("127.0.0.1", port, "Rubrica <living@rubrica.example>", "https://rubrica.example", MailSecurity.NONE)
    listening.close()


def written(letter: ChangeLetter = LETTER) -> EmailMessage:
    return make_message(letter, "Rubrica <living@rubrica.example>", "reader@example.org", "d-1")


async def test_a_message_says_what_changed_in_text_and_html_and_nothing_in_it_reaches_its_headers() -> None:
    server = Server()
    async with serving(server) as mailbox:
        await mailbox.send(written())
    (envelope,) = server.taken
    assert envelope.rcpt_tos == ["reader@example.org"]
    mail = email.message_from_bytes(envelope.original_content or b"", policy=default)
    assert mail["To"] == "reader@example.org"
    assert mail["Bcc"] is None
    assert mail["Subject"].startswith("Harbour Bcc: victim@example.org")
    assert (mail["Message-ID"], mail["Auto-Submitted"]) == ("<d-1@rubrica.example>", "auto-generated")
    assert f"List-Unsubscribe: <{LETTER.unsubscribe}>\r\n".encode() in (envelope.original_content or b"")
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert isinstance(mail, EmailMessage)
    text, page = (part.get_content() for part in mail.iter_parts())
    for told in ("No longer holds (1)", "its source says something else now", "12 million", "17 million", LETTER.report):
        assert told in text
        assert told in page
    assert LETTER.unsubscribe in text
    assert "\nBcc" not in text
    assert "<script" not in page
    assert "Budget &lt;2025&gt;" in page
    assert "12 million &amp; &quot;fixed&quot;" in page


def test_a_message_speaks_the_language_of_its_question() -> None:
    gone = ShownWords(title="", url="file:///5f0c/%E5%B9%B4%E6%8A%A5.pdf", text="预算为一千二百万。")
    fallen = FallenClaim(claim="预算为一千二百万。", why=FallReason.GONE, support=Support.NONE, before=(gone,))
    changes = ReportChanges(fallen=(fallen,), vanished_sources=(gone,) * 9)
    firing = LETTER.firing.model_copy(update={"changes": changes})
    mail = written(LETTER._replace(schedule="港口", question="港口花费多少？", firing=firing, language=Language.CHINESE))
    assert mail["Subject"] == "港口：自上次报告以来有变化。"
    text, page = (part.get_content() for part in mail.iter_parts())
    for told in ("不再成立（1）", "其来源已不存在", "原文：", "（年报.pdf）", "……另有 1 条", "不再接收此类邮件", LETTER.report):
        assert told in text
        assert told in page
    english = re.findall(r"[A-Za-z]+", text.replace(LETTER.report, "").replace(LETTER.unsubscribe, ""))
    assert set(english) <= {"pdf"}


async def test_who_may_not_read_what_a_run_gathered_is_told_which_claims_changed(database: asyncpg.Pool) -> None:
    house, server = await seed_mail(database), Server()
    async with serving(server) as mailbox:
        for delivery in house:
            await deliver(database, mailbox, delivery)
    reader, stranger = [email.message_from_bytes(sent.original_content or b"", policy=default) for sent in server.taken]
    assert isinstance(reader, EmailMessage)
    assert isinstance(stranger, EmailMessage)
    for mail, words in ((reader, True), (stranger, False)):
        for part in mail.iter_parts():
            assert "No longer holds (1)" in part.get_content()
            assert ("17 million" in part.get_content()) is words


async def seed_mail(database: asyncpg.Pool) -> list[UUID]:
    """Make a schedule whose run read a private collection; return a message to who may use it and one to a colleague."""
    people = await add_people(database)
    organisation, run, drawer = people["maker"].tenant.organisation, uuid4(), uuid4()
    query = ResearchQuery(question="What does it cost?").model_dump_json()
    await database.execute("INSERT INTO runs (id, organisation_id, query) VALUES ($1, $2, $3)", run, organisation, query)
    await database.execute(DRAWER, drawer, organisation, people["shared with"].user)
    await database.execute(SEARCHED, drawer, run, organisation)
    await database.execute(SCHEDULED, organisation, query)
    schedule = await database.fetchval("SELECT id FROM schedules WHERE organisation_id = $1", organisation)
    await database.execute(FIRING, schedule, NOW, organisation, run, CHANGES.model_dump_json())
    made = []
    for name in ("shared with", "colleague"):
        made.append(uuid4())
        await database.execute(DELIVERY, made[-1], schedule, organisation, NOW, f"{people[name].user}@example.org")
    return made


async def test_what_a_server_says_decides_whether_to_try_again() -> None:
    for server, expected in (
        (Server(reply="451 try later"), MailUnavailable),
        (Server(reply="554 spam\r\nin two lines"), MailRefused),
        (Server(to_recipient="450 mailbox busy"), MailUnavailable),
        (Server(to_recipient="550 no such user"), MailRefused),
    ):
        async with serving(server) as mailbox:
            with pytest.raises(expected, match=r"the mail server said \d{3}"):
                await mailbox.send(written())
            assert not server.taken


async def test_a_server_that_is_slow_or_away_or_cannot_encrypt_is_waited_for_elsewhere() -> None:
    async with serving(Server(slow=PATIENCE_S)) as mailbox:
        with pytest.raises(MailUnavailable, match="does not answer"):
            await replace(mailbox, patience_s=0.3).send(written())
    with pytest.raises(MailUnavailable, match="does not answer"):  # nobody listens there any more
        await mailbox.send(written())
    server = Server()
    async with serving(server) as mailbox:
        with pytest.raises(MailUnavailable):
            await replace(mailbox, security=MailSecurity.STARTTLS).send(written())  # never in the clear instead
        assert not server.taken
