"""Use cases of the registry and of cycles."""
