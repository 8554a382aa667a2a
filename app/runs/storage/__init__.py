"""The statements of runs."""
