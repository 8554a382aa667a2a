"""Web search providers. Each module writes requests and reads answers; the entrance makes the exchange."""
