"""The schema's history, run by Alembic. Functions are SQL files; a released file is never edited, a new one replaces it."""
