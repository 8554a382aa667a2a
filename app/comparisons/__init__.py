"""The parts of comparing two reports over the same evidence, blind."""
