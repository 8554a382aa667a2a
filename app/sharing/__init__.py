"""Links by which anybody may read one version of a report."""
