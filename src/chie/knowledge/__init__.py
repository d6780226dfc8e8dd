"""Team notes with semantic and lexical search in Japanese and English."""
