"""`chie notes` and `chie knowledge` on the command line."""
