"""Retrieval: corpora, indexes and pages, which turn outside text into passages with offsets."""
