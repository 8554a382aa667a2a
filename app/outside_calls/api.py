"""The route of the outside services."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from pydantic import BaseModel, Field

from app.accounts.nouns.access import AccessScope
from app.domain.options import SourceKind
from app.http.authentication import needs
from app.http.dependencies import ToolUseService
from app.http.openapi.responses import problem_responses
from app.outside_calls.nouns import ToolUse
from app.outside_calls.service import DAYS


class ToolList(BaseModel):
    """The outside services, with the outcome of their calls."""

    items: list[ToolUse]
    sources: tuple[SourceKind, ...] = Field(description="The kinds of sources that a run can search here.")


@get("/v1/tools", opt=needs(AccessScope.RUNS_READ), tags=["tools"], responses=problem_responses(400))
async def tools(
    use: ToolUseService,
    days: Annotated[int, QueryParameter(ge=1, le=365, description="Calls of this many days are counted.")] = DAYS,
) -> ToolList:
    """List every outside service that the product can use: whether it is on, its setting, and the outcome of its calls."""
    return ToolList(items=await use.read(days), sources=use.searchable)
