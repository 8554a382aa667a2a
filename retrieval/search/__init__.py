"""The search of indexes: ranking, fusion, selection of passages."""
