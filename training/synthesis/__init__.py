"""Training data that programs make from texts."""
