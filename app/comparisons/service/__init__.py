"""The use cases of comparisons."""
