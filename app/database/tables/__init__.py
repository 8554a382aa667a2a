"""The schema, as SQLModel tables. The one place where a column is declared."""
