"""MCP server for n8n workflows and executions."""
