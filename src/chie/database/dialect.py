"""What SQLAlchemy has per database. The dialect of the database in use is imported, not all of them."""

from importlib import import_module
from typing import Any


def upsert(backend: str, table: Any) -> Any:  # noqa: ANN401  the dialects have no common type
    """An `INSERT` that can resolve conflicts; `backend` is `sqlite` or `postgresql`."""
    return import_module(f"sqlalchemy.dialects.{backend}").insert(table)
