"""All tables together, as Alembic and the tests of the schema read them."""

from sqlmodel import SQLModel

from app.database.tables import (
    accounts as tables_accounts,
)
from app.database.tables import (
    api_clients as tables_api,
)
from app.database.tables import (
    asking as tables_asking,
)
from app.database.tables import (
    collections as tables_living,
)
from app.database.tables import (
    fleets as tables_fleets,
)
from app.database.tables import (
    preferences as tables_preferences,
)
from app.database.tables import (
    reports as tables_reports,
)
from app.database.tables import (
    runs as tables,
)
from app.database.tables import (
    schedules as tables_schedules,
)
from app.database.tables import (
    spending as tables_spending,
)

# A module is named here for its tables to be known.
MODULES = (
    *(tables, tables_accounts, tables_api, tables_asking, tables_fleets, tables_living),
    *(tables_preferences, tables_reports, tables_schedules, tables_spending),
)
METADATA = SQLModel.metadata
