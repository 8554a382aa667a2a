"""The `rubrica` command: a client of the HTTP API that starts the local stack when none is running."""
