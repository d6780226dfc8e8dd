"""`chie knowledge`: what is done once, with admin rights, before notes can live in Google Vector Search 2.0."""

from time import monotonic

import click

from chie.knowledge.store.vector_search.config import load_config
from chie.knowledge.store.vector_search.provision import DIMENSIONS, MODEL, Founded, Founder

DONE = {
    "created": "Created",
    "completed": "Exists already; fields that were missing are added:",
    "exists": "Exists already, and fits:",
}


@click.group()
def knowledge() -> None:
    """Prepare where notes live."""


@knowledge.command("init-collection")
@click.option("--model", default=MODEL, show_default=True, help="Embedding model that the service reads notes with.")
@click.option("--dimensions", default=DIMENSIONS, show_default=True, help="Length of its vectors.")
def init_collection(model: str, dimensions: int) -> None:
    """Create the Collection in Google Vector Search 2.0 that keeps the notes.

    It is the one command that needs roles/vectorsearch.admin. Running it again changes nothing that fits.
    """
    config = load_config()
    began = monotonic()

    def wait() -> None:
        click.echo(f"Waiting for Google Cloud… {monotonic() - began:.0f} s", err=True)

    click.echo(f"Looking for {config.name}", err=True)
    founded = Founder(config=config, model=model, dimensions=dimensions, waiting=wait).found()
    click.echo(_told(founded))


def _told(founded: Founded) -> str:
    lines = [
        f"{DONE[founded.outcome]} {', '.join(founded.added) or founded.name}",
        f"It reads notes with {founded.model} in {founded.dimensions} dimensions.",
        "Notes are kept there where CHIE_KNOWLEDGE_STORE=vector-search is set.",
    ]
    return "\n".join(lines)
