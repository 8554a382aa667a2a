"""Translate the names that a question gives its collections into those of the index, for the caller."""

from collections.abc import Sequence
from uuid import UUID

from app.collections.nouns import index_name_of, is_index_name, plain_name_of
from app.collections.storage import collections
from app.database.engine import Executor
from app.domain.errors import InvalidInput
from app.domain.query import ResearchQuery


async def resolve_collections(database: Executor, query: ResearchQuery) -> tuple[ResearchQuery, Sequence[UUID]]:
    """Return the question with its own collections as the index knows them, and their ids. Names of no collection stay.

    Only this function sets whose documents may be searched; it overwrites what the question says about that.

    Raises:
        InvalidInput: a name that only the index uses.
    """
    if foreign := next(filter(is_index_name, query.collections), None):
        raise InvalidInput(f"there is no collection {foreign!r}; `GET /v1/collections` lists yours")
    stored = [plain_name_of(name) for name in query.collections]
    own = {found.name: found for found in await collections.find_named(database, stored)} if stored else {}
    named = zip(query.collections, stored, strict=True)
    searched = tuple(index_name_of(own[known].id) if known in own else name for name, known in named)
    tenant = next((str(found.organisation_id) for found in own.values()), "")
    update = {"searched": searched if own else (), "tenant": tenant}
    return query.model_copy(update=update), [found.id for found in own.values()]
