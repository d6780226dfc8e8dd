"""Agents: the registry, the built-in agents, and the tool loop that they share."""
