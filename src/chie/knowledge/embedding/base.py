"""The port to whatever turns text into vectors."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from chie.errors import ServiceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


class EmbeddingError(ServiceError):
    """Caught by stores, which then go on with words alone and say so."""


class Embedder(ABC):
    """Texts in, unit-length float32 rows out. Vectors of different `id`s are never compared."""

    @property
    @abstractmethod
    def id(self) -> str:
        """Names the model and its version; must not need the model to be loaded."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row a text. Raises EmbeddingError when the model cannot be had."""
