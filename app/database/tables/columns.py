"""What the columns of many tables have in common."""

from typing import Any

from sqlalchemy import DateTime, ForeignKeyConstraint, func, text

NOW = {"server_default": func.now()}
ZERO = {"server_default": text("0")}
EMPTY = {"server_default": ""}
NO_ITEMS = {"server_default": "{}"}
NEW_ID = {"server_default": text("gen_random_uuid()")}
# An insert for an organisation need not name it, nor who acts in it and with which key. The last two are spelled as PostgreSQL
# gives them back, because Alembic compares the spelling: their values are null for itself, and no null equals another.
OWNER_OF_ROW = {"server_default": text("current_organisation()")}
ACTING_USER = {"server_default": text("(NULLIF(current_setting('rubrica.user'::text, true), ''::text))::uuid")}
ACTING_KEY = {"server_default": text("(NULLIF(current_setting('rubrica.key'::text, true), ''::text))::uuid")}
TIME: Any = DateTime(timezone=True)
# Not written to the server's log: what a crash may take, and is written often.
UNLOGGED = {"prefixes": ["UNLOGGED"]}


def key_in_organisation(column: str, parent: str, ondelete: str = "CASCADE") -> ForeignKeyConstraint:
    """Return the foreign key of a row whose parent (`table.column`) belongs to the same organisation.

    A key without the organisation would let a role that sees one organisation's rows write one that names another's parent.
    """
    return ForeignKeyConstraint(
        ["organisation_id", column], [f"{parent.partition('.')[0]}.organisation_id", parent], ondelete=ondelete
    )
