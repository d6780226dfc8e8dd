"""The chat room: agents on several LLM SDKs that use MCP tools, and conversations that survive everything."""
