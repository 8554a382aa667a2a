"""The parts that all routes share: authentication, errors, idempotency, the OpenAPI document, and the composition root."""
