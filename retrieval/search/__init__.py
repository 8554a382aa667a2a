"""The search side of an index: ranking, joining, choosing."""
