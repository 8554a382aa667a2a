"""Readings of a report's evidence: where sources disagree, and which numbers they give."""
