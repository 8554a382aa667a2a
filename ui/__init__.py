"""The web page: ask, watch and read. It speaks HTTP to the API and imports nothing else of the product."""
