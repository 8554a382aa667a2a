"""Two reports over the same evidence, compared blind."""
