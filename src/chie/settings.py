"""Settings come from the environment and a `.env` file; what is wrong there is said in our words."""

from typing import TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from chie.errors import ConfigurationError

S = TypeVar("S", bound=BaseSettings)


def load(kind: type[S]) -> S:
    try:
        return kind()
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(
            "the .env file here cannot be read. Make it plain UTF-8 text, or remove it."
        ) from error
    except ValidationError as error:
        prefix = kind.model_config.get("env_prefix", "")
        names = sorted({f"{prefix}{detail['loc'][0]}".upper() for detail in error.errors() if detail["loc"]})
        raise ConfigurationError(
            f"wrong value for {', '.join(names)}. Correct it in the environment or in .env; docs/ says what it may be."
        ) from error
