"""The use cases of webhooks."""
