"""The use cases of side by side."""
