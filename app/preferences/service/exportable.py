"""Which judgements an export would have now, under pseudonyms: what of a set may still be learned from."""

from datetime import UTC, datetime

import asyncpg

from app.comparisons.service.comparisons import CHANGEABLE_FOR
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
