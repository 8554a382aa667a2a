"""The consumption of deleted runs, as Alembic reads it."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel

from app.database.tables.columns import NEW_ID, OWNER_OF_ROW, TIME
from app.database.tables.protection import own_rows


class PastSpendingRow(SQLModel, table=True):
    """What a deleted run used, or (with `asked_at`) a change of its report or a question to it. `..._with` are keys."""

    __tablename__ = "past_spending"
    __table_args__ = (Index("past_spending_of_organisation", "organisation_id", "run_began_at"), own_rows("SELECT, INSERT"))
    id: UUID = Field(primary_key=True, sa_column_kwargs=NEW_ID)
    organisation_id: UUID = Field(foreign_key="organisations.id", ondelete="CASCADE", sa_column_kwargs=OWNER_OF_ROW)
    run_began_at: datetime = Field(sa_type=TIME)
    run_began_with: UUID | None = Field(nullable=True)
    asked_at: datetime | None = Field(sa_type=TIME, nullable=True)
    asked_with: UUID | None = Field(nullable=True)
    input_tokens: int = Field(sa_type=BigInteger)
    output_tokens: int = Field(sa_type=BigInteger)
    cost_microusd: int = Field(sa_type=BigInteger)
