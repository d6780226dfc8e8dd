"""The agent `adk`, a plug-in for Chie."""
