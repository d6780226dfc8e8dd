"""The chat: agents on several LLM SDKs that use MCP tools, and stored conversations."""
