"""The use cases of models that serve roles."""
