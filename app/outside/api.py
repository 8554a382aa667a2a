"""Routes of the outside services, and of pages of the index for other programs."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from pydantic import BaseModel

from app.accounts.nouns.access import AccessScope
from app.http.authentication import needs
from app.http.dependencies import PagesService, ToolUseService
from app.http.openapi.responses import problem_responses
from app.outside.nouns import ToolUse
from app.outside.service.pages import Page
from app.outside.service.tool_use import DAYS

MOST_PAGES = 20


class ToolList(BaseModel):
    """The outside services, with the outcome of their calls."""

    items: list[ToolUse]


@get("/v1/tools", opt=needs(AccessScope.RUNS_READ), tags=["tools"], responses=problem_responses(400))
async def tools(
    use: ToolUseService,
    days: Annotated[int, QueryParameter(ge=1, le=365, description="Calls of this many days are counted.")] = DAYS,
) -> ToolList:
    """List every outside service that the product can use: whether it is on, its setting, and the outcome of its calls."""
    return ToolList(items=await use.read(days))


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
