"""Versioned prompts. A released version is never edited: add the next one, compare, switch."""
