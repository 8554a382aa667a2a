"""The research systems, their agents and tools, and their durable execution."""
