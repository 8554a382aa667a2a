"""Pairs of reports of which one is preferred (QSR section 3.2)."""
