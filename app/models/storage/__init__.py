"""The SQL of served models, aliases and canaries, and of the registry of versions."""
