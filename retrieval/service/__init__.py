"""The index owner's process, and its client."""
