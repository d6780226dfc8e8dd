"""`chie backup` and `chie restore`: everything that Chie stores, in one file, without stopping Chie."""
