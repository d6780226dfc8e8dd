"""First-run setup: the model endpoints that are available, and how to connect an MCP client."""
