"""The tools agents may call, over the ports of retrieval."""
