"""One question worked by several systems on the same evidence."""
