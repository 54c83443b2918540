"""MCP servers: whose count, and which are asked about."""
