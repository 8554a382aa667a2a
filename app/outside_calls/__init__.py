"""Calls to outside services: what workers share of them, and their outcome for each service."""
