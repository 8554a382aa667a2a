"""Accounts over HTTP: sign-up and sessions, the team, keys."""
