"""The statements of collections."""
