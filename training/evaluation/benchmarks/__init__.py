"""The benchmarks: how each is read in its published form, and how its answers are scored."""
