"""The index owner's service, and its client."""
