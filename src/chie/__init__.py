"""Chie (知恵): one self-hosted home for what a development team knows and can do."""

__version__ = "0.1.0"
