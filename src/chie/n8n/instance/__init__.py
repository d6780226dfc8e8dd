"""n8n's own MCP server: what the public API cannot do, such as test runs and the parameters of nodes."""
