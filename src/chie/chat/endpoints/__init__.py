"""Model endpoints that an admin adds in the page: what they are, how they are checked, tested and used."""
