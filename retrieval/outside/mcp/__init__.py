"""Tools of MCP servers, called through the entrance."""
