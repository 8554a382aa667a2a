"""Checkers of finished training rows, which share no code with what makes them."""
