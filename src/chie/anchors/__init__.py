"""Compares the code that notes are anchored to with a Git repository, on the machine that has it.

Hooks use it too, so its modules import the standard library alone.
"""
