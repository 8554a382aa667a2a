"""Finished reports: their versions, their rendering, and what can be read off them."""
