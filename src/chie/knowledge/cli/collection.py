"""`chie knowledge`: set-up of Google Vector Search 2.0, run once with admin rights."""

from time import monotonic

import click

from chie.knowledge.store.vector_search.config import load_config
from chie.knowledge.store.vector_search.provision import DIMENSIONS, MODEL, CollectionProvisioner, ProvisionResult

OUTCOMES = {
    "created": "Created",
    "completed": "Exists; added missing fields:",
    "exists": "Exists and matches:",
}


@click.group()
def knowledge() -> None:
    """Set up the store of notes."""


@knowledge.command("init-collection")
@click.option("--model", default=MODEL, show_default=True, help="Embedding model of the service.")
@click.option("--dimensions", default=DIMENSIONS, show_default=True, help="Dimensions of its vectors.")
def init_collection(model: str, dimensions: int) -> None:
    """Create the Collection in Google Vector Search 2.0 that stores the notes.

    This is the only command that needs roles/vectorsearch.admin. Running it again changes nothing that matches.
    """
    config = load_config()
    began = monotonic()

    def wait() -> None:
        click.echo(f"Waiting for Google Cloud… {monotonic() - began:.0f} s", err=True)

    click.echo(f"Looking for {config.name}", err=True)
    result = CollectionProvisioner(config=config, model=model, dimensions=dimensions, waiting=wait).provision()
    click.echo(_summary(result))


def _summary(result: ProvisionResult) -> str:
    lines = [
        f"{OUTCOMES[result.outcome]} {', '.join(result.added) or result.name}",
        f"It embeds notes with {result.model} in {result.dimensions} dimensions.",
        "Set CHIE_KNOWLEDGE_STORE=vector-search to store notes there.",
    ]
    return "\n".join(lines)
