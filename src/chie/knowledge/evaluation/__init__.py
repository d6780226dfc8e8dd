"""Evaluation of search on one's own questions: recorded searches and files of cases."""
