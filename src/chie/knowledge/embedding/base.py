"""The port to embedding models."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from chie.errors import ServiceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


class EmbeddingError(ServiceError):
    """Stores catch it, continue without vectors and return a notice."""


class Embedder(ABC):
    """Turns texts into unit-length float32 vectors. Vectors of different `id`s are never compared."""

    @property
    @abstractmethod
    def id(self) -> str:
        """Identifies the model and its version without loading it."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text. Raises EmbeddingError if the model is not available."""
