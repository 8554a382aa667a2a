"""Read a rubric in any of its three published forms, by its `form`. Without one it is the product's own (QSR's), the oldest."""

from typing import Annotated, Any

from pydantic import Discriminator, Tag, TypeAdapter, ValidationError

from app.domain.errors import InvalidInput
from app.domain.evidence_rubric import EvidenceRubric
from app.domain.race_rubric import RaceRubric
from app.domain.rubric import Rubric

OLDEST = "qsr"


def _form_of(value: Any) -> str:
    return str(value.get("form", OLDEST) if isinstance(value, dict) else getattr(value, "form", OLDEST))


AnyRubric = Annotated[
    Annotated[Rubric, Tag("qsr")] | Annotated[EvidenceRubric, Tag("deeprubric")] | Annotated[RaceRubric, Tag("race")],
    Discriminator(_form_of),
]
_READER: TypeAdapter[Rubric | EvidenceRubric | RaceRubric] = TypeAdapter(AnyRubric)


def read_rubric(text: str | bytes) -> Rubric | EvidenceRubric | RaceRubric:
    """Return a rubric from its JSON.

    Raises:
        InvalidInput: the text has none of the three forms, or breaks its rules; the message says which.
    """
    try:
        return _READER.validate_json(text)
    except ValidationError as error:
        said = (f"{'.'.join(map(str, e['loc']))}: {e['msg'].removeprefix('Value error, ')}" for e in error.errors()[:5])
        raise InvalidInput(f"this is no rubric: {'; '.join(said)}") from error
