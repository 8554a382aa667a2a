"""Adapters to language models. None of them retries: the record that asks owns the waiting."""
