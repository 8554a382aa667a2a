"""Messages to an organisation's own servers."""
