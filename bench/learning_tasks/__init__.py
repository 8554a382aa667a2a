"""What recipes are shown to learn, one module each, small enough for minutes on a CPU."""
