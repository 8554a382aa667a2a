"""Adapters to language models. None of them retries: waiting is the task of the record that asks."""
