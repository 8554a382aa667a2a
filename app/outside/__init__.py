"""The parts of outside services: which are on, what they share, and the outcome of their calls."""
