"""Routes of readers' preferences: rating, flagging, consent, annotation, votes."""
