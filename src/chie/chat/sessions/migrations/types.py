"""Column types that migrations share."""

import sqlalchemy as sa

MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
