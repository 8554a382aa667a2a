"""Models that serve roles: what is asked where, and which model a run has in each role."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.value import Value


class ModelRole(StrEnum):
    """The roles that a model may have in a run. The three agents of MaMs have one model, the searcher."""

    PLANNER = "planner"
    SEARCHER = "searcher"
    WRITER = "writer"
    RUBRIC = "rubric"
    JUDGE = "judge"


class Notation(StrEnum):
    """The form of structured answers that a model was made for: a JSON schema that its server enforces, or tags in free text."""

    SCHEMA = "schema"
    TAGS = "tags"


class ServedModel(Value):
    """A model at a server, under a name that never means anything else.

    `key_setting` names the environment variable with the server's key and ends in `_API_KEY`: no key is stored. `adapter` is
    the SHA-256 digest of the adapter's folder and `template` that of its chat template, empty for a model that came without;
    `base` is what the adapter stands on. `context` counts tokens, 0 where it is unknown. Prices are US$ per million tokens.
    `version` is its entry in the registry; None for a model of the settings.
    """

    name: str = Field(min_length=1, max_length=200)
    address: str
    key_setting: str = Field(default="", pattern=r"^([A-Z][A-Z0-9_]*_API_KEY)?$")
    notation: Notation = Notation.SCHEMA
    template: str = ""
    context: int = Field(default=0, ge=0)
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    input_price: Decimal = Decimal(0)
    output_price: Decimal = Decimal(0)
    adapter: str = ""
    base: str = ""
    version: UUID | None = None


class RoleModels(Value):
    """The name of the served model in each role, as they were when the run was created; empty: the settings' own."""

    planner: str = ""
    searcher: str = ""
    writer: str = ""
    rubric: str = ""
    judge: str = ""

    def of(self, role: ModelRole) -> str:
        """Return the name of the model in a role."""
        return str(getattr(self, role.value))


SETTINGS_MODEL = RoleModels()
"""The settings' model in every role."""


class AliasMove(Value):
    """One move of a role's alias from a served model to another, with who moved it and why."""

    role: ModelRole
    came_from: str
    went_to: str
    by: str
    why: str
    at: datetime


class RoleHold(Value):
    """A role that no cycle moves until a person releases it, with who holds it and why."""

    role: ModelRole
    by: str
    why: str
    at: datetime
