"""The HTTP routes of collections."""
