"""One tool a file."""
