"""Text that may order about the machine which reads it, and how such orders are found."""
