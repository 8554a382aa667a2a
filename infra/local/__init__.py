"""The one-command stack: real servers from wheels, started, watched and stopped as child processes."""
