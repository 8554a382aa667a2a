"""The `rubrica` command. A client of the HTTP API that starts the local stack when none is running."""
