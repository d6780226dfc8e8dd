"""Alembic migrations, shipped with the package; `upgrade.py` runs them."""
