"""The building of a collection: documents, passages, word index, vectors."""
