"""The use cases of outside."""
