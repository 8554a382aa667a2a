"""The outermost layer: the command line and the processes of the local stack. No domain logic."""
