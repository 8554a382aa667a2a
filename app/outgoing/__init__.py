"""Connections to addresses that other people name (a page's link, a customer's webhook): they must lead out, never in."""
