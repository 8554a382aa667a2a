"""The parts of readers' preferences: feedback, annotation, votes, and the training export."""
