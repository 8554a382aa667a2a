"""The parts of each organisation's audit log."""
