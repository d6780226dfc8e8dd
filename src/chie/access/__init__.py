"""Who may come in, who they are, how often they may ask, and what is written down about it."""
