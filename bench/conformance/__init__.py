"""`make conformance`: what we speak and write, held against the published suites of others, as one table."""
