"""The use cases of asking."""
