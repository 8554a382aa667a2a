"""The tools that agents may call, over the ports of retrieval."""
