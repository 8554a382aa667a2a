"""The one form of all training sets: making it, its parts, its report."""
