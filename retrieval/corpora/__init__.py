"""The readers of corpora. Each turns an outside source into documents, and reports what it cannot read."""
