"""Statements of the registry and of cycles."""
