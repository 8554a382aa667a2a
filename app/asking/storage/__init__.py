"""The statements of asking."""
