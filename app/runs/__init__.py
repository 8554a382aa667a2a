"""Runs: asking them, following them, steering them, and the record that workers write."""
