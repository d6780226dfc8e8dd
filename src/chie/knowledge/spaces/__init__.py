"""Spaces of notes and who may read and write them."""
