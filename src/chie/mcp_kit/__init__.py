"""Shared by our MCP servers: the server class, errors, authentication, views."""
