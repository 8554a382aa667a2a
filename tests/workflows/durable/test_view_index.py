"""The view of the index that a run has."""

from types import SimpleNamespace
from typing import Any, cast

from app.domain.query import ResearchQuery
from retrieval.ports import Document
from tests.workflows.durable.toys import SOURCE, TEXT
from workflows.durable.workshop import Workshop


async def test_a_run_reads_the_documents_of_its_own_collections_and_organisation() -> None:
    asked: list[Any] = []

    async def read(*arguments: Any) -> Document:
        asked.append(arguments)
        return Document(source=SOURCE, text=TEXT)

    shop = cast("Workshop", SimpleNamespace(index=SimpleNamespace(read=read)))
    for query in (
        ResearchQuery(question="Why?", collections=("acme",)),
        ResearchQuery(question="Why?", collections=("Ours",), searched=("own-1",), tenant="org"),
    ):
        await Workshop.view_index(shop, query).read("file:///docs/README.md")
    assert asked == [("file:///docs/README.md", None, ("acme",)), ("file:///docs/README.md", "org", ("own-1",))]
