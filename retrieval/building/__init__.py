"""Building a collection: documents, passages, word index, vectors."""
