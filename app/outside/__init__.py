"""The services outside: which are on, what they share, how their calls went."""
