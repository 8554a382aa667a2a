"""Served models and their aliases, the registry of versions, canaries, and cycles of retraining."""
