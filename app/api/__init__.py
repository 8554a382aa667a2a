"""The HTTP API: one controller a resource, schemas that are never tables, errors as RFC 9457 problems."""
