"""The application: nouns, storage, use cases and the HTTP API."""
