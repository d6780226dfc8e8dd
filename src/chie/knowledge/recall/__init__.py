"""Recall and capture: notes reach assistants through hooks, and findings become proposals."""
