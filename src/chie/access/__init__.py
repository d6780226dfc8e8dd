"""Authentication, users, OIDC, rate limits, the audit log, and the ASGI middleware that applies them."""
