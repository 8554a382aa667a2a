"""The route that gives pages of the index to other programs."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from app.accounts.nouns.access import AccessScope
from app.collections.service.index_pages import Page
from app.http.authentication import needs
from app.http.dependencies import PagesService
from app.http.openapi.responses import problem_responses

MOST_PAGES = 20


@get("/v1/retrieve", opt=needs(AccessScope.RUNS_READ), tags=["tools"], responses=problem_responses(400))
async def retrieve(
    pages: PagesService,
    wanted: Annotated[str, QueryParameter(name="query", min_length=1, max_length=1_000, description="What to look for.")],
    max_results: Annotated[int, QueryParameter(ge=1, le=MOST_PAGES, description="How many pages at most.")] = 5,
    collection: Annotated[
        list[str] | None, QueryParameter(description="Collections to search; default: the default one.")
    ] = None,
) -> list[Page]:
    """Return pages of the index for a query, in the form that gpt-researcher's custom retriever expects."""
    return await pages.find(wanted, max_results, tuple(collection or ()))
