"""Routes of trained models: the registry, and the cycles of retraining that fill it."""
