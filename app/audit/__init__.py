"""The audit log of each organisation."""
