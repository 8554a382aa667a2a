"""The parts of idempotency: a write that is sent twice is carried out once."""
