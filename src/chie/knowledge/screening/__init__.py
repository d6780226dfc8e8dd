"""Screening of notes: secrets that must not be stored, and text that addresses a model."""
