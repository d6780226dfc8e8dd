"""The folder that holds the receipts."""

from chie.settings import HomeSettings


class ConnectSettings(HomeSettings):
    """Only `CHIE_HOME`."""
