"""The limit for a part that insists on one. What a test waits for has none of its own: pytest-timeout guards the whole test."""

PATIENCE_S = 600.0
