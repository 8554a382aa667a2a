"""The statements of accounts."""
