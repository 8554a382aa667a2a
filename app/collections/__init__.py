"""Collections of an organisation's own documents."""
