"""The statements of comparisons."""
