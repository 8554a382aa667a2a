"""The documents and collections of one home, in SQLite."""
