"""One file per revision; the number is the revision."""
