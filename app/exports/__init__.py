"""Reports in the formats in which they leave the product."""
