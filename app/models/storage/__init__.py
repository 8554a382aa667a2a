"""The statements of served models, versions, canaries and cycles."""
