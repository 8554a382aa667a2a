"""What is known already: near-copies among texts, and texts that public benchmarks have."""
