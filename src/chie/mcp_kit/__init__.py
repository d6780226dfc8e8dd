"""What our MCP servers share: the server class, errors, authentication, views."""
