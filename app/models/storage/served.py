"""Served models: the record of each name. A name that came from a person or a cycle never gets another record."""

from datetime import datetime
from typing import NamedTuple

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.served_models import ServedModel

COLUMNS = tuple(ServedModel.model_fields)
RECORD = ", ".join(COLUMNS)
GIVEN = ", ".join(f"${n}" for n in range(1, len(COLUMNS) + 1))
KEPT, NEW = (", ".join(f"{row}.{column}" for column in COLUMNS) for row in ("served_models", "excluded"))
INSERT = f"INSERT INTO served_models ({RECORD}) VALUES ({GIVEN}) ON CONFLICT (name) DO UPDATE "
ADD = f"{INSERT}SET gone_at = NULL WHERE ({KEPT}) IS NOT DISTINCT FROM ({NEW}) RETURNING true"
# What the settings say of their models may change; what was trained may not.
SET = f"{INSERT}SET ({RECORD}, gone_at) = ({NEW}, NULL) WHERE served_models.version IS NULL"
GET = f"SELECT {RECORD}, added_at, gone_at FROM served_models WHERE name = $1"
LIST = f"SELECT {RECORD}, added_at, gone_at FROM served_models ORDER BY added_at, name"
MARK_GONE = "UPDATE served_models SET gone_at = now() WHERE name = $1 AND gone_at IS NULL RETURNING true"


class KnownModel(NamedTuple):
    """A served model as it is known here. `gone_at`: when its server stopped knowing it."""

    model: ServedModel
    added_at: datetime
    gone_at: datetime | None


async def add(database: Executor, model: ServedModel) -> bool:
    """Add a served model, or bring one back that was gone. False: its name means another one."""
    async with translate_outages():
        return bool(await database.fetchval(ADD, *_values_of(model)))


async def set_of_settings(database: Executor, model: ServedModel) -> None:
    """Add a model of the settings, or bring its record up to date."""
    async with translate_outages():
        await database.execute(SET, *_values_of(model))


async def get(database: Executor, name: str) -> KnownModel | None:
    """Return the served model of this name, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, name)
    return _known_of(row) if row else None


async def list_all(database: Executor) -> list[KnownModel]:
    """Return all served models, the first added first."""
    async with translate_outages():
        return [_known_of(row) for row in await database.fetch(LIST)]


async def mark_gone(database: Executor, name: str) -> bool:
    """Note that the model's server does not know it any more. False: that is noted already, or there is no such model."""
    async with translate_outages():
        return bool(await database.fetchval(MARK_GONE, name))


def _values_of(model: ServedModel) -> list[object]:
    return [getattr(model, column) for column in COLUMNS]


def _known_of(row: Record) -> KnownModel:
    return KnownModel(ServedModel(**{column: row[column] for column in COLUMNS}), row["added_at"], row["gone_at"])
