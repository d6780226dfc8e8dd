"""Who can be talked with."""
