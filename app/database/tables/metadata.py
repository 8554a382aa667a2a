"""All tables together, as Alembic and the tests of the schema read them."""

from sqlmodel import SQLModel

from app.database.tables import (
    accounts,
    api_clients,
    asking,
    collections,
    fleets,
    models,
    preferences,
    reports,
    runs,
    schedules,
    spending,
)

# A module is named here for its tables to be known.
MODULES = (accounts, api_clients, asking, collections, fleets, models, preferences, reports, runs, schedules, spending)
METADATA = SQLModel.metadata
