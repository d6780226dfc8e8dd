"""Links to conversations: what was shared stays as it was, for those who may open this Chie, until it is revoked."""
