"""Accounts: signing up and in, the team of an organisation, and its keys."""
