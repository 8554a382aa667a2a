"""Use cases: what the product does for its callers, whoever they are. Errors come from `app/domain/errors.py`."""
