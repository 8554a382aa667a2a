"""The migrations of the schema, run by Alembic (docs/schema.md)."""
