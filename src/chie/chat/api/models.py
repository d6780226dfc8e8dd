"""The models that a conversation may choose."""

from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, Field

from chie.chat.api.state import ChatState
from chie.chat.models.catalogue import ListedEndpoint, ListedModel
from chie.chat.models.provider import Kind
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/models", tags=["models"])


class ModelParameter(BaseModel):
    """A number between `minimum` and `maximum`, or one of `values`."""

    name: str
    minimum: float | None = None
    maximum: float | None = None
    values: list[str] = []


class Model(BaseModel):
    id: str = Field(description="The reference: the id of the endpoint, a slash, and the model's own name.")
    name: str = Field(description="The name to show; for a path of a file, the name of the file.")
    sees_images: bool
    parameters: list[ModelParameter] = Field(description="What a conversation with this model may set.")


class ModelEndpoint(BaseModel):
    """An endpoint that cannot be asked says why in `error` and has the models that are configured for it."""

    id: str
    name: str
    kind: Kind
    models: list[Model]
    error: str | None = None
    error_code: str | None = None
    error_params: dict[str, Any] | None = None


class Models(BaseModel):
    endpoints: list[ModelEndpoint]


@router.get("", responses=errors())
async def list_models(chat: ChatState) -> Models:
    """List the chat models of every endpoint."""
    return Models(endpoints=[_endpoint(listed) for listed in await chat.agents.catalogue.models()])


def _endpoint(listed: ListedEndpoint) -> ModelEndpoint:
    error = listed.error
    return ModelEndpoint(
        id=listed.id,
        name=listed.name,
        kind=listed.kind,
        models=[_model(model) for model in listed.models],
        error=str(error) if error else None,
        error_code=error.code if error else None,
        error_params=error.json_params() if error else None,
    )


def _model(listed: ListedModel) -> Model:
    return Model.model_validate(asdict(listed))
