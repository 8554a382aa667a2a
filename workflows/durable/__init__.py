"""Durable execution: the only part of the workers that knows Temporal."""
