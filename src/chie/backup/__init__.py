"""`chie backup` and `chie restore`: everything that Chie keeps, in one file and back, while it runs."""
