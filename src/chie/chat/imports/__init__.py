"""Imports conversations from the exports of ChatGPT and Claude."""
