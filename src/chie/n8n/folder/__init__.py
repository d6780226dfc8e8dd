"""Workflows as files in a folder, for review and history in Git."""
