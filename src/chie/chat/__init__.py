"""Agents on several LLM SDKs that call MCP tools; durable runs and sessions; the HTTP API behind the page."""
