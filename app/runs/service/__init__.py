"""The use cases of runs."""
