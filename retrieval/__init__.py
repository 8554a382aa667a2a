"""Corpora, indexes and pages: everything that turns outside text into passages with offsets."""
