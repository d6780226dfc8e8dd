"""`chie doctor`: check everything that Chie depends on, and name the command that fixes a problem."""
