"""Pages of the open web: fetched safely, turned into readable text, kept apart from anything a page could do to us."""
