"""One file a step; the number is its revision."""
