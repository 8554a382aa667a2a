"""Request and response bodies of preferences."""
