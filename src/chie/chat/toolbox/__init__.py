"""The MCP client: what servers there are, how they do, and what their tools give back."""
