"""The schema's history, run by Alembic (docs/schema.md)."""
