"""Tries a change on a copy of the workflow, with the data of an execution that failed."""
