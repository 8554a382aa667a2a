"""Readers of corpora: each turns something outside into documents, and reports what it could not read."""
