"""MCP server that reads web pages, and the policy on the URLs that tools may open."""
