"""The parts of sharing: links by which anybody may read one version of a report."""
