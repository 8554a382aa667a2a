"""What readers prefer: comparisons, feedback, annotation, and what is made of the votes."""
