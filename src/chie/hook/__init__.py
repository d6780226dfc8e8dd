"""`chie hook`: the command that assistants run as a hook. It asks the running Chie and prints the client's own format.

It runs at every prompt and tool call, so its modules import the standard library alone, and little of it.
"""
