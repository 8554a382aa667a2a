"""The parts of retention: how long data is kept, and the sweep that deletes it."""
