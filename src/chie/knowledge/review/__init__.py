"""Review: notes that repeat or contradict each other, are out of date or have no author, and unanswered searches."""
