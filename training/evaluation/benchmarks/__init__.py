"""The benchmarks. Each module reads one in its published form and scores answers."""
