"""What was said: sessions and messages in SQLite or PostgreSQL."""
