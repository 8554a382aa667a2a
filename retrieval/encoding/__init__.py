"""Models that read text: encoders, cross-encoders, their weights."""
