"""Reads files that people attach: what they are, and the text of documents, without trusting them."""
