"""Benchmarks and metrics. docs/evaluation.md explains each with its equation and what it does not see."""
