"""What n8n knows about its nodes: search, parameters and their validation, from n8n's own MCP server."""
