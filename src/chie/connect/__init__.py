"""`chie connect`: our servers in an assistant's own configuration, and out of it again."""
