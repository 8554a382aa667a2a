"""The use cases of reports."""
