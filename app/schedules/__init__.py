"""Questions that are asked again and again."""
