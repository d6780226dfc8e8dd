"""The MCP client: connections to servers, their state, and the results of their tools."""
