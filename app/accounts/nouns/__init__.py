"""The nouns of accounts."""
