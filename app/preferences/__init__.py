"""What readers prefer: feedback, annotation, votes, and the training export."""
