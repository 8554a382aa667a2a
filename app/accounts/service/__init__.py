"""The use cases of accounts."""
