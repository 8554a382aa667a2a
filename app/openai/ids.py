"""Name things as OpenAI does: a run is a response, a system with an effort is a model."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from app.domain.errors import NotFound
from app.domain.query import Effort, SystemName
from app.domain.run import Run

RESPONSE_ID = re.compile(r"resp_([0-9a-f]{32})")
EFFORTS = {
    "none": Effort.QUICK,
    "minimal": Effort.QUICK,
    "low": Effort.QUICK,
    "medium": Effort.STANDARD,
    "high": Effort.DEEP,
    "xhigh": Effort.DEEP,
}


class ResearchModel(NamedTuple):
    """The system and effort of a model id."""

    system: SystemName
    effort: Effort

    @property
    def id(self) -> str:
        """The id, such as `minddr-standard`."""
        return f"{self.system}-{self.effort}"


def models_of(systems: Sequence[SystemName]) -> list[ResearchModel]:
    """Return each system with each effort."""
    return [ResearchModel(system, effort) for system in systems for effort in Effort]


def find_model(name: str, systems: Sequence[SystemName], reasoning_effort: str | None = None) -> ResearchModel:
    """Return the model of this id. A system's name alone is one too: its effort is the one requested beside it, or `standard`.

    Raises:
        NotFound: there is no such model; the message lists the models.
    """
    for model in models_of(systems):
        if name == model.id:
            return model
        if name == model.system:
            return ResearchModel(model.system, EFFORTS.get(reasoning_effort or "", Effort.STANDARD))
    raise NotFound(f"there is no model {name[:100]!r}; there are: {', '.join(model.id for model in models_of(systems))}")


def model_of(run: Run) -> str:
    """Return the model id of a run."""
    return ResearchModel(run.query.system, run.query.effort).id


def response_id_of(run_id: UUID) -> str:
    """Return the id of the response that shows this run."""
    return f"resp_{run_id.hex}"


def parse_response_id(response: str) -> UUID:
    """Return the run of a response id.

    Raises:
        NotFound: this is no id of a response.
    """
    found = RESPONSE_ID.fullmatch(response)
    if found is None:
        raise NotFound(f"there is no response {response[:100]!r}")
    return UUID(found.group(1))
