"""Connections to addresses that somebody else names (a page's link, a customer's webhook) and that must lead out, never in."""
