"""`chie doctor`: is everything that Chie needs there, and if not, what mends it."""
