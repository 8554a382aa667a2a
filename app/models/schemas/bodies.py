"""The bodies of requests and answers. No answer names a server's address."""

from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.domain.model_versions import CanaryState, ErasurePolicy, EvaluationKind, VersionState
from app.domain.served_models import ModelRole
from app.http.plain_text import PLAIN
from app.statistics.arm_comparison import Arm

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000), PLAIN]


class ActReason(BaseModel):
    """Why something is done; it is kept, and shown with it."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason


class Promotion(ActReason):
    """A promotion: which served model of the version gets the role; by default the one of the version's name."""

    served: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""


class ModelVersionView(BaseModel):
    """A version of a trained model. `also` are further roles that it is meant for, `rows` those of all sets it learned from."""

    id: UUID
    name: str
    role: ModelRole
    also: list[ModelRole]
    number: int
    parent: UUID | None
    state: VersionState
    recipe: str
    base: str
    licence: str
    notation: str
    artifact: str
    rows: int
    on_erasure: ErasurePolicy
    created_at: datetime


class ModelVersionPage(BaseModel):
    """One page of versions, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[ModelVersionView]
    next: UUID | None = None


class HoldView(BaseModel):
    """Who holds a role and why: no cycle moves it until it is released."""

    by: str
    why: str
    at: datetime


class CanaryView(BaseModel):
    """A candidate that serves, or served, a share of the organisations, in its role and in those of `also`."""

    id: UUID
    version: UUID
    role: ModelRole
    also: list[ModelRole]
    served: str
    share: float
    state: CanaryState
    why: str
    started_at: datetime
    ended_at: datetime | None


class ArmView(BaseModel):
    """The runs of one arm while a canary ran: of the candidate, or of the model that served; and those that failed."""

    arm: Arm
    runs: int
    failed: int


class VotesView(BaseModel):
    """Readers' votes until the end of a day (UTC): those that the candidate won, and its rate with an interval."""

    day: date
    votes: int
    won: int
    rate: float
    low: float
    high: float


class CanaryCourseView(BaseModel):
    """What was seen of a canary. `votes` has a line for each day on which readers chose between both arms."""

    canary: UUID
    arms: list[ArmView]
    votes: list[VotesView]


class RoleView(BaseModel):
    """What serves a role, and since when; `version` is null for a model that was not trained here."""

    role: ModelRole
    served: str
    since: datetime | None
    version: ModelVersionView | None
    held: HoldView | None
    canary: CanaryView | None


class RoleList(BaseModel):
    """What serves each role. `operates`: your organisation operates this deployment, so that you may read its cycles.

    `may_act`: you may promote, hold and take back here, and steer cycles.
    """

    items: list[RoleView]
    operates: bool
    may_act: bool


class VersionChange(BaseModel):
    """One change of a version's state."""

    state: VersionState
    by: str = Field(description="A person's address for the operator's organisation, `operator` for others; or what did it.")
    why: str
    at: datetime


class VersionEvaluation(BaseModel):
    """Figures that were measured of a version."""

    kind: EvaluationKind
    figures: dict[str, Any]
    at: datetime


class MoveView(BaseModel):
    """One move of a role from a served model to another."""

    role: ModelRole
    came_from: str
    went_to: str
    by: str = Field(description="As of a change of state.")
    why: str
    at: datetime


class MoveList(BaseModel):
    """The last moves of roles, newest first."""

    items: list[MoveView]


class LearnedSet(BaseModel):
    """A set that a version learned from."""

    kind: str
    digest: str
    rows: int
    consents_at: datetime | None


class ModelVersionDetail(BaseModel):
    """A version with all that is known of it, each list oldest first.

    `lineage` has all that it descends from and all that descends from it. `judgements` counts those of readers among its rows.
    `configuration` is the recipe's, and `courses` are those of its canaries: for the operator's organisation alone, since others
    choose between reports without knowing how the choice stands.
    """

    version: ModelVersionView
    sets: list[LearnedSet]
    judgements: int
    configuration: dict[str, Any]
    changes: list[VersionChange]
    evaluations: list[VersionEvaluation]
    canaries: list[CanaryView]
    courses: list[CanaryCourseView]
    moves: list[MoveView]
    lineage: list[ModelVersionView]


class LearnedVotesView(BaseModel):
    """A version that learned from your votes: from `own` of them, of `judgements` in all."""

    version: ModelVersionView
    own: int
    judgements: int


class OwnVotesView(BaseModel):
    """How many choices between reports you made, and which versions learned from some of them."""

    choices: int
    learned: list[LearnedVotesView]
