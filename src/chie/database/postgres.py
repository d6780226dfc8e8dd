"""Limits that every connection to PostgreSQL has."""

from typing import Any

POOL_SIZE = 8  # connections per process and pool
CONNECT_TIMEOUT_SECONDS = 10


def driver_options() -> dict[str, Any]:
    return {"connect_timeout": CONNECT_TIMEOUT_SECONDS}
