"""Where in the code a note holds, and what became of it."""
