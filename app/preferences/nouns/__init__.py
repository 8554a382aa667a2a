"""The nouns of preferences."""
