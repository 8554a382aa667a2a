"""The parts of systems side by side: one question worked by several systems on the same evidence."""
