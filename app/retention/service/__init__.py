"""The use cases of retention."""
