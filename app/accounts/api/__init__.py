"""The HTTP routes of accounts."""
