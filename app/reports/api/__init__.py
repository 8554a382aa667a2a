"""The HTTP routes of reports."""
