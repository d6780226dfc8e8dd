"""Proposed notes that wait for a person's decision."""
