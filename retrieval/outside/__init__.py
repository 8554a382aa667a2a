"""The one entrance for all calls to services outside. Only it has limits, retries, cache, joining and counting of calls."""
