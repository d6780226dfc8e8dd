"""One tool a file; `catalog.py` is the list of them."""
