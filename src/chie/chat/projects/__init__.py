"""Projects: conversations with common instructions, files, an agent, a space of notes, and members."""
