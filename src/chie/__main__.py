"""`python -m chie` is `chie`."""

from chie.cli import main

main(prog_name="chie")
