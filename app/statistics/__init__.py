"""Statistics that API, worker and training share: intervals, and tests that may be read at any time. Standard library only."""
