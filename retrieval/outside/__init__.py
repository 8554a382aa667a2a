"""The one entrance for calls to the world outside: limits, retries, cache, joining and counting live here and nowhere else."""
