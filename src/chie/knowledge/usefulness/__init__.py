"""How often a note was shown, opened, cited and marked."""
