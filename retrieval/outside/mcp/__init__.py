"""The connections to MCP servers. Calls of their tools go through the entrance."""
