"""The reading of pages of the open web: safe fetching and parsing, isolated from harm that a page could do."""
