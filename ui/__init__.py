"""The web page: ask, watch, read. It speaks HTTP to the API and imports nothing else of the product."""
