"""The `chie hook` command, for help and completion. `chie.__main__` runs it without importing click."""

import click

from chie.hook.clients import CLIENTS


@click.command()
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.argument("event")
def hook(client: str, event: str) -> None:
    """Answer a hook of an assistant: `chie connect CLIENT --memory` sets it up.

    Reads the event from standard input, asks the running Chie and prints the client's own format. Prints nothing
    if Chie does not answer within a second.
    """
    from chie.hook.command import main

    main([client, event])
