"""Storage: PostgreSQL behind functions that return nouns. Tables never leave this package."""
