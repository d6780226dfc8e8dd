"""The room of automations: an MCP server that changes n8n workflows without breaking them."""
