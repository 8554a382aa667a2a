"""How citations and claims are described. They are answered as they were stored, which costs no reading of thousands of them."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class CitedSource(BaseModel):
    """Where a quote was taken from. `snapshot` names the stored copy; what is not known of a source is left out."""

    title: str
    url: str
    snapshot: str
    kind: str = ""
    published: str = Field(default="", description="A day: 2026-11-20.")
    venue: str = ""
    doi: str = ""
    retracted: bool = False
    preprint: bool = False


class Citation(BaseModel):
    """A number of a report and the exact words it stands for: characters `start` to `end` (not included) of the stored copy."""

    n: int
    quote: str
    start: int
    end: int
    page: int | None = Field(default=None, description="The page of a PDF, or the number of a slide, where that is known.")
    source: CitedSource


class Claim(BaseModel):
    """A sentence of a report, the numbers it cites, how well they support it, and why; see docs/citations.md."""

    text: str
    section: str = Field(default="", description="The heading it stands under.")
    citations: list[int] = []
    support: str = Field(default="", description="`full`, `partial`, `none`, `contradicted`, `unjudged` or `uncited`.")
    reason: str = ""
    judge: str = Field(
        default="", description="Who judged: `verbatim`, `offline`, `nli` or `model` (older reports: `offline+vectors`)."
    )
    weak: str = Field(default="", description="Why the claim rests on thin ground, whatever its support.")
    unsourced: bool = Field(
        default=False, description="Nothing that is cited gives its fact or one of its numbers; see `reason`."
    )
    row: str = Field(
        default="",
        description="For a cell of a table: its row with the heads, which is one claim. The cells of a row have the same; empty "
        "elsewhere.",
    )


class _DescribedAs:
    """Describes a dictionary as what a model describes, without making one of it."""

    def __init__(self, kind: type[BaseModel]) -> None:
        self._kind = kind

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self._kind.__pydantic_core_schema__)


Citations = list[Annotated[dict[str, Any], _DescribedAs(Citation)]]
Claims = list[Annotated[dict[str, Any], _DescribedAs(Claim)]]
