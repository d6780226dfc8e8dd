"""What notes were: versions, trash, supersession, search as of a date."""
