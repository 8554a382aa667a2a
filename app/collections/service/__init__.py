"""The use cases of collections."""
