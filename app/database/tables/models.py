"""Served models, aliases, the registry, canaries and cycles of retraining, as Alembic reads them.

They belong to the deployment and to no organisation. Everybody may read what serves; only the operator's requests and the
workers change it, both as the worker's role.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, JSON, BigInteger, CheckConstraint, Identity, Index, Numeric, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from app.database.tables.columns import EMPTY, NO_ITEMS, NOW, TIME, ZERO
from app.database.tables.protection import for_worker_only, visible_rows
from app.domain.model_versions import CanaryState, ErasurePolicy, EvaluationKind, VersionState
from app.domain.retraining import CycleState, CycleWish
from app.domain.served_models import ModelRole, Notation


def _one_of(column: str, choices: Any, name: str) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(choice.value) for choice in choices)})", name=name)


class ModelVersionRow(SQLModel, table=True):
    """A trained model with what it was made of. Only `state` changes; `version_states` has each change."""

    __tablename__ = "model_versions"
    __table_args__ = (
        UniqueConstraint("role", "number", name="model_versions_numbered"),
        _one_of("role", ModelRole, "model_versions_role"),
        _one_of("notation", Notation, "model_versions_notation"),
        _one_of("on_erasure", ErasurePolicy, "model_versions_on_erasure"),
        _one_of("state", VersionState, "model_versions_state"),
        Index("model_versions_serving", "role", unique=True, postgresql_where=text("state = 'serving'")),
        visible_rows("true", "SELECT"),
    )
    id: UUID = Field(primary_key=True)
    role: str = Field(sa_type=Text)
    also: list[str] = Field(sa_type=ARRAY(Text), sa_column_kwargs=NO_ITEMS)
    number: int = Field()
    parent: UUID | None = Field(foreign_key="model_versions.id", nullable=True)
    recipe: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    configuration: dict[str, Any] = Field(sa_type=JSON)
    build: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    sets: list[dict[str, Any]] = Field(sa_type=JSON)
    artifact: str = Field(sa_type=Text)
    base: str = Field(sa_type=Text)
    notation: str = Field(sa_type=Text)
    licence: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    cycle: UUID | None = Field(foreign_key="retraining_cycles.id", ondelete="SET NULL", nullable=True)
    on_erasure: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class VersionStateRow(SQLModel, table=True):
    """One change of a version's state. `by` is a person's address, `cycle` or `canary`."""

    __tablename__ = "version_states"
    __table_args__ = (
        Index("version_states_of_version", "version_id", "id"),
        _one_of("state", VersionState, "version_states_state"),
        for_worker_only(),
    )
    id: int = Field(primary_key=True, sa_type=BigInteger, sa_column_args=(Identity(always=True),))
    version_id: UUID = Field(foreign_key="model_versions.id", ondelete="CASCADE")
    state: str = Field(sa_type=Text)
    by: str = Field(sa_type=Text)
    why: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class VersionEvaluationRow(SQLModel, table=True):
    """Figures that were measured of a version, such as a gate's table."""

    __tablename__ = "version_evaluations"
    __table_args__ = (
        Index("version_evaluations_of_version", "version_id", "id"),
        _one_of("kind", EvaluationKind, "version_evaluations_kind"),
        for_worker_only(),
    )
    id: int = Field(primary_key=True, sa_type=BigInteger, sa_column_args=(Identity(always=True),))
    version_id: UUID = Field(foreign_key="model_versions.id", ondelete="CASCADE")
    kind: str = Field(sa_type=Text)
    figures: dict[str, Any] = Field(sa_type=JSON)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class VersionPairRow(SQLModel, table=True):
    """A row of an export that a version learned from, by its pseudonym: it leads from a vote to the versions, for erasure."""

    __tablename__ = "version_pairs"
    __table_args__ = (Index("version_pairs_by_pair", "pair"), for_worker_only())
    version_id: UUID = Field(primary_key=True, foreign_key="model_versions.id", ondelete="CASCADE")
    pair: str = Field(primary_key=True, sa_type=Text)


class ServedModelRow(SQLModel, table=True):
    """A model at a server. `gone_at`: when its server stopped knowing it."""

    __tablename__ = "served_models"
    __table_args__ = (_one_of("notation", Notation, "served_models_notation"), visible_rows("true", "SELECT"))
    name: str = Field(primary_key=True, sa_type=Text)
    address: str = Field(sa_type=Text)
    key_setting: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    notation: str = Field(sa_type=Text)
    template: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    context: int = Field(sa_column_kwargs=ZERO)
    temperature: float | None = Field(nullable=True)
    top_p: float | None = Field(nullable=True)
    input_price: Decimal = Field(sa_type=Numeric, sa_column_kwargs=ZERO)
    output_price: Decimal = Field(sa_type=Numeric, sa_column_kwargs=ZERO)
    adapter: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    base: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    version: UUID | None = Field(foreign_key="model_versions.id", ondelete="SET NULL", nullable=True)
    added_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    gone_at: datetime | None = Field(sa_type=TIME, nullable=True)


class ModelAliasRow(SQLModel, table=True):
    """The served model that new runs get in a role. `of_settings`: nobody but the settings has ever moved it."""

    __tablename__ = "model_aliases"
    __table_args__ = (_one_of("role", ModelRole, "model_aliases_role"), visible_rows("true", "SELECT"))
    role: str = Field(primary_key=True, sa_type=Text)
    served: str = Field(foreign_key="served_models.name", sa_type=Text)
    of_settings: bool = Field(sa_column_kwargs={"server_default": "false"})
    since: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class RoleHoldRow(SQLModel, table=True):
    """A role that no cycle moves until a person releases it."""

    __tablename__ = "role_holds"
    __table_args__ = (_one_of("role", ModelRole, "role_holds_role"), for_worker_only())
    role: str = Field(primary_key=True, sa_type=Text)
    by: str = Field(sa_type=Text)
    why: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class AliasMoveRow(SQLModel, table=True):
    """One move of a role's alias. Empty `came_from`: the role had none."""

    __tablename__ = "alias_moves"
    __table_args__ = (
        Index("alias_moves_of_role", "role", "id"),
        _one_of("role", ModelRole, "alias_moves_role"),
        for_worker_only(),
    )
    id: int = Field(primary_key=True, sa_type=BigInteger, sa_column_args=(Identity(always=True),))
    role: str = Field(sa_type=Text)
    came_from: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    went_to: str = Field(sa_type=Text)
    by: str = Field(sa_type=Text)
    why: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class CanaryRow(SQLModel, table=True):
    """A candidate that serves a share of the organisations: at most one at a time in a role."""

    __tablename__ = "canaries"
    __table_args__ = (
        CheckConstraint("share > 0 AND share <= 1", name="canaries_share"),
        _one_of("role", ModelRole, "canaries_role"),
        _one_of("state", CanaryState, "canaries_state"),
        Index("canaries_running", "role", unique=True, postgresql_where=text("state = 'running'")),
        visible_rows("true", "SELECT"),
    )
    id: UUID = Field(primary_key=True)
    version: UUID = Field(foreign_key="model_versions.id", ondelete="CASCADE")
    role: str = Field(sa_type=Text)
    also: list[str] = Field(sa_type=ARRAY(Text), sa_column_kwargs=NO_ITEMS)
    served: str = Field(foreign_key="served_models.name", sa_type=Text)
    share: float = Field()
    state: str = Field(sa_type=Text)
    why: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    started_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    ended_at: datetime | None = Field(sa_type=TIME, nullable=True)


class RetrainingCycleRow(SQLModel, table=True):
    """A cycle of retraining: its plan as it was read, and where it stands. `last_seq` numbers its events.

    At most one cycle of a plan is under way.
    """

    __tablename__ = "retraining_cycles"
    __table_args__ = (
        _one_of("state", CycleState, "retraining_cycles_state"),
        _one_of("wish", CycleWish, "retraining_cycles_wish"),
        Index(
            "retraining_cycles_under_way",
            text("(plan ->> 'name')"),
            unique=True,
            postgresql_where=text("ended_at IS NULL"),
        ),
        for_worker_only(),
    )
    id: UUID = Field(primary_key=True)
    plan: dict[str, Any] = Field(sa_type=JSON)
    folder: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    wish: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "go"})
    approved: list[str] = Field(sa_type=ARRAY(Text), sa_column_kwargs=NO_ITEMS)
    detail: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    asked_by: str = Field(sa_type=Text)
    last_seq: int = Field(sa_type=BigInteger, sa_column_kwargs=ZERO)
    created_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    ended_at: datetime | None = Field(sa_type=TIME, nullable=True)


class CycleEventRow(SQLModel, table=True):
    """One line of a cycle's log."""

    __tablename__ = "cycle_events"
    __table_args__ = (for_worker_only(),)
    cycle_id: UUID = Field(primary_key=True, foreign_key="retraining_cycles.id", ondelete="CASCADE")
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    type: str = Field(sa_type=Text)
    payload: dict[str, Any] = Field(sa_type=JSON)
    at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)


class CycleStepRow(SQLModel, table=True):
    """One step of a cycle: the folder that it works in, and its outcome once it is done."""

    __tablename__ = "cycle_steps"
    __table_args__ = (for_worker_only(),)
    cycle_id: UUID = Field(primary_key=True, foreign_key="retraining_cycles.id", ondelete="CASCADE")
    step: str = Field(primary_key=True, sa_type=Text)
    attempt: int = Field(sa_column_kwargs=ZERO)
    folder: str = Field(sa_type=Text, sa_column_kwargs=EMPTY)
    outcome: dict[str, Any] | None = Field(sa_type=JSON, nullable=True)
    started_at: datetime = Field(sa_type=TIME, sa_column_kwargs=NOW)
    ended_at: datetime | None = Field(sa_type=TIME, nullable=True)


class DeviceLeaseRow(SQLModel, table=True):
    """Who has a device for training or serving, and until when: a holder that dies loses it by not renewing."""

    __tablename__ = "device_leases"
    __table_args__ = (for_worker_only(),)
    device: str = Field(primary_key=True, sa_type=Text)
    holder: str = Field(sa_type=Text)
    purpose: str = Field(sa_type=Text)
    ends_at: datetime = Field(sa_type=TIME)
