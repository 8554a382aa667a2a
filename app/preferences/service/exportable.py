"""Which judgements an export would have now, under pseudonyms: what of a set may still be learned from."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import asyncpg

from app.comparisons.service.comparisons import CHANGEABLE_FOR
from app.database.engine import Executor
from app.preferences.service.pseudonyms import Pseudonyms
from app.preferences.storage import exportable

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


async def list_exportable(database: asyncpg.Pool, names: Pseudonyms, now: datetime) -> frozenset[str]:
    """Return the pseudonyms of all rows that an export of everything would have, undecided pairs among them.

    Raises:
        Unavailable: the database does not answer.
    """
    found = await exportable.list_exportable(database, BEGINNING, now, CHANGEABLE_FOR)
    return frozenset(names.of(kind, *ids) for kind, ids in found)


async def list_choices_of(database: Executor, names: Pseudonyms, user: UUID) -> Sequence[str]:
    """Return the pseudonyms of a person's choices between reports, exported or not.

    Raises:
        Unavailable: the database does not answer.
    """
    return [names.of(exportable.CHOICE, *ids) for ids in await exportable.list_choices_of(database, user)]
