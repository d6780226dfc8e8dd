"""`chie completion`: the line or two that make a shell complete our commands."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes chie's commands in your shell.

    \b
    bash:  chie completion bash >> ~/.bashrc
    zsh:   chie completion zsh >> ~/.zshrc    (below the line with compinit)
    fish:  chie completion fish > ~/.config/fish/completions/chie.fish
    """
    from chie.cli import main

    kind = get_completion_class(shell)
    assert kind is not None, "click knows the three"  # noqa: S101
    script = kind(main, {}, "chie", "_CHIE_COMPLETE")
    click.echo(script.source_template % script.source_vars())
