"""Which files of the project a command uses, told by all its Python processes."""
