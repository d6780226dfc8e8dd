"""The `chie` program, also as `python -m chie`. Assistants run `chie hook` at every prompt: it starts without click."""

import sys


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and len(arguments) == 3 and not arguments[1].startswith("-"):
        from chie.hook.command import main as answer_hook

        answer_hook(arguments[1:])
    from chie.cli import main as run

    run(prog_name="chie")


if __name__ == "__main__":
    main()
