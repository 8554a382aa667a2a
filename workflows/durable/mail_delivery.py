"""One attempt to send one message. Temporal repeats it, and each attempt is logged."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg
from temporalio.exceptions import ApplicationError

from app.database.engine import translate_outages
from app.domain.deliveries import MailDelivery, MailState
from app.outgoing.mail import Mailbox, MailRefused, MailUnavailable
from app.schedules.storage import deliveries, schedules
from workflows.durable.change_mail import ChangeLetter, make_message
from workflows.durable.persistence import persist

NO_MAILBOX = "no mail server is set up here (RUBRICA_SMTP_HOST, RUBRICA_SMTP_FROM, RUBRICA_PUBLIC_URL)"


async def deliver(database: asyncpg.Pool, mailbox: Mailbox | None, delivery: UUID) -> None:
    """Send the message, unless it was sent already or its reader has unsubscribed.

    Raises:
        ApplicationError: the mail server did not take it; retried where that may help.
    """
    kept = await persist(lambda: deliveries.get(database, delivery))
    if kept is None or kept.state is not MailState.WAITING:
        return
    if mailbox is None:
        await persist(lambda: deliveries.note(database, delivery, MailState.REFUSED, NO_MAILBOX))
        return
    letter = await _make_letter(database, mailbox, kept)
    if letter is None:
        await persist(lambda: deliveries.note(database, delivery, MailState.UNSUBSCRIBED))
        return
    try:
        await mailbox.send(make_message(letter, mailbox.sender, kept.address, str(kept.id)))
    except MailRefused as error:
        said = str(error)
        await persist(lambda: deliveries.note(database, delivery, MailState.REFUSED, said))
        raise ApplicationError(said, non_retryable=True) from error
    except MailUnavailable as error:
        said = str(error)
        await persist(lambda: deliveries.note(database, delivery, MailState.WAITING, said))
        raise ApplicationError(said) from error
    await persist(lambda: deliveries.note(database, delivery, MailState.SENT))


async def _may_read(database: asyncpg.Pool, delivery: UUID, runs: Sequence[UUID]) -> bool:
    async with translate_outages(), database.acquire() as connection, connection.transaction():
        return await deliveries.may_read_evidence(connection, delivery, runs)


async def _make_letter(database: asyncpg.Pool, mailbox: Mailbox, kept: MailDelivery) -> ChangeLetter | None:
    """Return the letter, or None when its reader has unsubscribed or its schedule is gone."""
    if not await persist(lambda: deliveries.is_wanted(database, kept.id)):
        return None
    schedule = await persist(lambda: schedules.get(database, kept.schedule_id))
    firing = await persist(lambda: schedules.begin(database, kept.schedule_id, kept.due_at))
    if schedule is None or firing is None:
        return None
    read = [run for run in (firing.run_id, firing.baseline_id) if run]
    if not await persist(lambda: _may_read(database, kept.id, read)):
        firing = firing.model_copy(update={"changes": firing.changes.without_sources()})
    return ChangeLetter(
        schedule=schedule.name,
        question=schedule.query.question,
        firing=firing,
        report=f"{mailbox.link_base}/read?run={firing.run_id}" if firing.run_id else mailbox.link_base,
        unsubscribe=f"{mailbox.link_base}/v1/unsubscribe/{kept.id}",
        language=schedule.query.language,
    )
