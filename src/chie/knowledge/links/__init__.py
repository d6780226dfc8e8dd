"""Links between notes and back."""
