"""The limit for a part that needs one. A test's own waits have none: pytest-timeout guards the whole test."""

PATIENCE_S = 600.0
