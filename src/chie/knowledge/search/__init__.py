"""Text into tokens and passages, queries, ranking and what a hit shows."""
