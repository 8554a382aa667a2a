"""Translate the names that a question gives its collections into those of the index, for the caller."""

from collections.abc import Sequence
from uuid import UUID

from app.collections.nouns import index_name_of, is_index_name
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
    own = {found.name: found for found in await collections.find_named(database, query.collections)} if query.collections else {}
    searched = tuple(index_name_of(own[name].id) if name in own else name for name in query.collections)
    tenant = next((str(found.organisation_id) for found in own.values()), "")
    update = {"searched": searched if own else (), "tenant": tenant}
    return query.model_copy(update=update), [found.id for found in own.values()]
