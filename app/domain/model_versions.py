"""Versions of trained models: what each was made of, its states and evaluations, and canaries."""

import hashlib
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import Field

from app.domain.served_models import ModelRole
from app.domain.value import Value


class VersionState(StrEnum):
    """The state of a version. `retired` has served and was replaced; `withdrawn` may not serve again."""

    CANDIDATE = "candidate"
    REFUSED = "refused"
    CANARY = "canary"
    SERVING = "serving"
    RETIRED = "retired"
    WITHDRAWN = "withdrawn"


class ErasurePolicy(StrEnum):
    """What becomes of a version when data that it learned from is erased; the next cycle carries it out."""

    KEEP = "keep"
    RETRAIN = "retrain"
    WITHDRAW = "withdraw"


class TrainedOn(Value):
    """A set that a version learned from: its kind, the SHA-256 digest of its manifest, and its rows.

    `key` is the fingerprint of the key that its rows' pseudonyms were made with, `consents_at` the moment at which readers'
    consents were looked up; without them no row is a reader's.
    """

    kind: str
    digest: str
    rows: int = Field(ge=0)
    key: str = ""
    consents_at: datetime | None = None


class TrainedModel(Value):
    """A trained model and what it was made of.

    `artifact` is the SHA-256 digest of its folder among the artifacts; `configuration` is the recipe's, resolved; `licence`
    is that of the base. It is numbered, and has its state, in its `role`; `also` names further roles that it is meant for.
    """

    role: ModelRole
    also: tuple[ModelRole, ...] = ()
    parent: UUID | None = None
    recipe: str = ""
    configuration: dict[str, Any] = Field(default={})
    build: str = ""
    sets: tuple[TrainedOn, ...] = ()
    artifact: str
    base: str
    notation: str
    licence: str = ""
    cycle: UUID | None = None
    on_erasure: ErasurePolicy = ErasurePolicy.RETRAIN

    @property
    def roles(self) -> tuple[ModelRole, ...]:
        """All roles that the model is meant for, its own first."""
        return tuple(dict.fromkeys((self.role, *self.also)))


class ModelVersion(TrainedModel):
    """An entry of the registry: a trained model under its number, and where it stands. Versions of a role count from 1."""

    id: UUID
    number: int
    state: VersionState = VersionState.CANDIDATE
    created_at: datetime

    @property
    def name(self) -> str:
        """The immutable name under which servers load it: a name is a key of their caches, so it never means other weights."""
        return f"{self.role.value}-v{self.number}-{self.artifact[:12]}"


class StateChange(Value):
    """One change of a version's state: who made it, when and why. `by` is a person's address, `cycle` or `canary`."""

    state: VersionState
    by: str
    why: str
    at: datetime


class EvaluationKind(StrEnum):
    """The kinds of evaluations that a version collects. `training`: curves and figures of the run that made it.

    `erasure`: how many of its rows were erased since, and what was done about it.
    """

    TRAINING = "training"
    GATE = "gate"
    EVALUATION = "evaluation"
    CANARY = "canary"
    ERASURE = "erasure"


class Evaluation(Value):
    """Figures that were measured of a version, such as a gate's table."""

    kind: EvaluationKind
    figures: dict[str, Any]
    at: datetime


class CanaryState(StrEnum):
    """The state of a canary. `stopped`: a person ended it without a verdict."""

    RUNNING = "running"
    PROMOTED = "promoted"
    ROLLED_BACK = "rolled_back"
    STOPPED = "stopped"


class Canary(Value):
    """A candidate that serves a stable share of the organisations, in its role and in those that it also has there.

    `share` lies in (0, 1].
    """

    id: UUID
    version: UUID
    role: ModelRole
    also: tuple[ModelRole, ...] = ()
    served: str
    share: float = Field(gt=0, le=1)
    state: CanaryState = CanaryState.RUNNING
    why: str = ""
    started_at: datetime
    ended_at: datetime | None = None

    @property
    def roles(self) -> tuple[ModelRole, ...]:
        """All roles in which the candidate serves, the one that it is numbered in first."""
        return (self.role, *self.also)


def falls_to_canary(canary: UUID, organisation: UUID, share: float) -> bool:
    """Say whether a canary serves this organisation: always the same answer, true for about a `share` of all organisations."""
    return _is_drawn(canary, organisation, share)


def falls_to_comparison(canary: UUID, run: UUID, share: float) -> bool:
    """Say whether a canary has this run's report compared: always the same answer, true for about a `share` of all runs."""
    return _is_drawn(canary, run, share)


def _is_drawn(canary: UUID, subject: UUID, share: float) -> bool:
    drawn = hashlib.sha256(f"{canary}{subject}".encode()).digest()
    return int.from_bytes(drawn[:8], "big") < share * 2**64
