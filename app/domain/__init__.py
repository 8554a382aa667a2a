"""The nouns of Rubrica: pydantic and the standard library only."""
