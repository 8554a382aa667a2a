"""Descriptions of collections: whose they are, their kind, size, years, languages, and titles where they are few."""

from retrieval.ports import CollectionDescription, SearchFilter
from retrieval.search.library import Library
from retrieval.store.catalogue import BuildPhase, Catalogue
from retrieval.store.database import StoreDatabase
from retrieval.store.documents import StoredState

FEW_TITLES = 12


class DescribedCollections:
    """Describes collections. Documents are counted once for each phase of a build: a large collection takes seconds."""

    def __init__(self, library: Library, catalogue: Catalogue, database: StoreDatabase) -> None:
        self._library = library
        self._catalogue = catalogue
        self._database = database
        self._known: dict[str, tuple[tuple[int, BuildPhase] | None, CollectionDescription]] = {}

    def describe(self, where: SearchFilter) -> list[CollectionDescription]:
        """Describe the collections that a filter's tenant may search. Raises `NotFound` where there is no such collection."""
        return [self._recall(name) for name in self._library.list_permitted(where)]

    def _recall(self, name: str) -> CollectionDescription:
        build, known = self._catalogue.find_build(name), self._known.get(name)
        phase = (build.number, build.phase) if build else None
        if known is None or known[0] != phase:
            known = self._known[name] = (phase, self._describe(name))
        return known[1]

    def _describe(self, name: str) -> CollectionDescription:
        collection, connection = self._catalogue.get(name), self._database.connect()
        stored = "FROM documents WHERE collection = ? AND state <> ?"
        of = (name, StoredState.GONE)
        year = "CAST(substr(json_extract(source, '$.published'), 1, 4) AS INTEGER)"
        counted = f"SELECT language, count(*), min({year}), max({year}) {stored} GROUP BY language ORDER BY 2 DESC"
        rows = connection.execute(counted, of).fetchall()
        years = [int(year) for row in rows for year in row[2:] if year]
        total = sum(int(row[1]) for row in rows)
        titles = connection.execute(f"SELECT json_extract(source, '$.title') {stored}", of) if total <= FEW_TITLES else ()
        return CollectionDescription(
            name=name,
            kind=collection.kind,
            own=bool(collection.tenant),
            documents=total,
            years=(min(years), max(years)) if years else None,
            languages={str(row[0]): int(row[1]) for row in rows},
            titles=tuple(sorted(str(title) for (title,) in titles)),
        )
