"""Find the caller's collections that fit a question, and refuse kinds of sources that are not set up."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from app.collections.nouns import index_name_of
from app.collections.service.index_owner import IndexService
from app.collections.storage import collections
from app.collections.storage.collections import NamedCollection
from app.database.engine import Executor
from app.domain.errors import InvalidInput, RubricaError
from app.domain.options import SourceKind
from app.domain.query import ResearchQuery

MOST_COMPARED = 50
"""The newest collections are compared with a question; the index reaches about as many in its time."""
MOST_SUGGESTED = 5
TIME_LIMIT = timedelta(seconds=3)
log = logging.getLogger(__name__)


class Suggestions:
    """The use case of choosing where a question is searched. Without the index no collection is suggested.

    `searchable` are the kinds of sources that are set up.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Executor, index: IndexService, searchable: frozenset[SourceKind]) -> None:
        self._database = database
        self._index = index
        self._searchable = searchable

    def check_sources(self, query: ResearchQuery) -> None:
        """Refuse a question that names a kind of sources which is not set up: its run would find nothing there.

        Raises:
            InvalidInput: a kind is not set up.
        """
        wanted = query.scope.sources if query.scope else ()
        if missing := [kind for kind in wanted if kind not in self._searchable]:
            there = ", ".join(kind for kind in SourceKind if kind in self._searchable)
            raise InvalidInput(f"{', '.join(missing)}: not set up here; `sources` can name {there}")

    async def add_fitting(self, query: ResearchQuery) -> ResearchQuery:
        """Return the question with the collections that fit it."""
        names = await self.find(query)
        return query.model_copy(update={"collections": names, "suggested": bool(names)})

    async def find(self, query: ResearchQuery) -> tuple[str, ...]:
        """Return the names of the collections that fit the question, the best first."""
        offered = await collections.list_offered(self._database, MOST_COMPARED) if self._index.configured else ()
        by_index_name = {index_name_of(collection.id): collection.name for collection in offered}
        fitting = await self._compare(query, offered) if offered else []
        return tuple(by_index_name[name] for name in fitting if name in by_index_name)[:MOST_SUGGESTED]

    async def _compare(self, query: ResearchQuery, offered: Sequence[NamedCollection]) -> list[str]:
        body: dict[str, Any] = {
            "query": query.full_question,
            "collections": [index_name_of(collection.id) for collection in offered],
            "tenant": str(offered[0].organisation_id),
        }
        if query.scope is not None:
            body |= query.scope.model_dump(mode="json", include={"published_from", "published_to"})
        try:
            async with asyncio.timeout(TIME_LIMIT.total_seconds()):
                return list((await self._index.call("POST", "/fitting", body))["collections"])
        except (RubricaError, TimeoutError) as error:
            log.warning("no collections are suggested: %s", error or "the index takes too long")
            return []
