"""The first minutes: which models there are, how to get one, and how an assistant is connected."""
