"""Notes as Markdown files: reading, writing, folders, vaults and uploads."""
