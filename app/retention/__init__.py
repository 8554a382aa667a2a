"""How long data is kept, and what deletes it."""
