"""What our MCP servers share, one topic a file; six files at the most."""
