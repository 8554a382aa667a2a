"""The HTTP routes of runs."""
