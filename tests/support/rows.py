"""Makes rows of any table from what the table says of its columns: enough for PostgreSQL to take them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    Uuid,
)

Row = dict[str, Any]
MADE_UP: dict[type, Callable[[], Any]] = {
    **{Uuid: uuid4, Text: lambda: str(uuid4()), LargeBinary: lambda: uuid4().bytes, DateTime: lambda: datetime.now(UTC)},
    **{BigInteger: lambda: 1, Integer: lambda: 1, SmallInteger: lambda: 1, Float: lambda: 1.0, Boolean: lambda: True},
    **{ARRAY: list, JSON: lambda: "{}"},
}


async def make_row(connection: asyncpg.Connection, table: Table, organisation: UUID) -> Row:
    """Make values of a row of this organisation that can be added; the rows it must name are added first."""
    row = {column.name: _make_value(table, column) for column in table.columns if _is_required(column)}
    if "organisation_id" in table.columns:
        row["organisation_id"] = organisation
    for key in table.foreign_key_constraints:
        if key.referred_table.name != "organisations" and set(key.column_keys) <= set(row):
            row |= await add_parent(connection, key, organisation)
    return row


async def add_parent(connection: asyncpg.Connection, key: ForeignKeyConstraint, organisation: UUID) -> Row:
    """Add a row for a foreign key to name; return the values of the key's columns."""
    parent = await make_row(connection, key.referred_table, organisation)
    await connection.execute(*write_insert(key.referred_table, parent))
    return {element.parent.name: parent[element.column.name] for element in key.elements}


def write_insert(table: Table, row: Row) -> tuple[Any, ...]:
    """Return the statement that adds a row, and its arguments."""
    names, places = ", ".join(f'"{name}"' for name in row), ", ".join(f"${n + 1}" for n in range(len(row)))
    return f"INSERT INTO {table.name} ({names}) VALUES ({places})", *row.values()


def _is_required(column: Column[Any]) -> bool:
    return column.primary_key or not (column.nullable or column.server_default)


def _make_value(table: Table, column: Column[Any]) -> Any:
    checks = [str(check.sqltext) for check in table.constraints if isinstance(check, CheckConstraint)]
    if allowed := re.search(rf"\b{column.name} IN \('(\w+)'", " ".join(checks)):
        return allowed[1]
    return MADE_UP[type(column.type)]()
