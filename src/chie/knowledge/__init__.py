"""Team notes: saved by people and assistants, found again by meaning and by words in Japanese and English."""
