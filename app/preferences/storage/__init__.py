"""The statements of preferences."""
