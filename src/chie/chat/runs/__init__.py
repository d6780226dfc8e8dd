"""A run is an answer being generated: its life, its readers and the processes around it."""
