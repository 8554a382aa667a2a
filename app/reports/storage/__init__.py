"""The statements of reports."""
