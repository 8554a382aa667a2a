"""The use cases of served models, versions, canaries and cycles."""
