"""A small interface to a hybrid vector index, and its adapters: the Qdrant engine in process, a Qdrant server by URL."""
