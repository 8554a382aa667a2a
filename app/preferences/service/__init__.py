"""The use cases of readers' preferences: comparisons, feedback, annotation, and the votes."""
