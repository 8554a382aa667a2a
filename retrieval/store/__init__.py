"""Documents and collections of one home, in SQLite."""
