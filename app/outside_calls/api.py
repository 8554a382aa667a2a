"""The route of what there is to ask with."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from pydantic import BaseModel, Field

from app.accounts.nouns.access import AccessScope
from app.domain.options import SourceKind
from app.domain.query import SystemName
from app.http.authentication import needs
from app.http.dependencies import ToolUseService
from app.http.openapi.responses import problem_responses
from app.outside_calls.nouns import ToolUse
from app.outside_calls.service import DAYS


class ToolList(BaseModel):
    """The outside services, with the outcome of their calls, and what else there is to ask with."""

    items: list[ToolUse]
    sources: tuple[SourceKind, ...] = Field(description="The kinds of sources that a run can search here.")
    systems: tuple[SystemName, ...] = Field(description="The systems that can be asked; most need a language model.")
    models: tuple[str, ...] = Field(
        description="The language models that would work a new run of yours. Empty: there is none, and reports quote sentences."
    )
    sends_mail: bool = Field(description="Whether there is a mail server, without which schedules tell nobody.")


@get("/v1/tools", opt=needs(AccessScope.RUNS_READ), tags=["tools"], responses=problem_responses(400))
async def tools(
    use: ToolUseService,
    days: Annotated[int, QueryParameter(ge=1, le=365, description="Calls of this many days are counted.")] = DAYS,
) -> ToolList:
    """List every outside service that the product can use: whether it is on, its setting, and the outcome of its calls.

    Beside them: the sources, systems and models that a new run can have, and whether mail can be sent.
    """
    there = use.equipment
    return ToolList(
        items=await use.read(days),
        sources=tuple(kind for kind in SourceKind if kind in there.searchable),
        systems=there.systems,
        models=await use.list_models(),
        sends_mail=there.sends_mail,
    )
