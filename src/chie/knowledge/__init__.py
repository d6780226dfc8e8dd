"""The knowledge room: what the team has found out, saved once and found again in Japanese or English."""
