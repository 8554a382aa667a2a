"""The benchmarks: each module is run as `python -m bench.<name>` and prints its figures as one JSON line, last."""
