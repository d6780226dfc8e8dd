"""Checks of the embedding model and of the model endpoints."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie.doctor.added_endpoints import check_added_endpoints
from chie.doctor.finding import Finding
from chie.installation.commands import repair_chie
from chie.messages.catalogue import Message
from chie.settings import load

if TYPE_CHECKING:
    from chie.setup.endpoints import Endpoint, ProbeResult
    from chie.setup.settings import SetupSettings

EMBEDDING = "embedding model"
FIXES = {
    "own": 'export OPENAI_BASE_URL="http://127.0.0.1:1234/v1"',
    "lm-studio": "lms server start",
    "ollama": "ollama serve",
    "openai": 'export OPENAI_API_KEY="…"',
    "anthropic": 'export ANTHROPIC_API_KEY="…"',
}
DISCOVERED = ("lm-studio", "ollama")  # tried on every machine, configured or not


async def check_embedding() -> Sequence[Finding]:
    from chie.knowledge.embedding.base import EmbeddingError
    from chie.knowledge.settings import KnowledgeSettings, create_embedder

    settings = load(KnowledgeSettings)
    if settings.knowledge_store == "vector-search":
        return [Finding(EMBEDDING, "off", Message("doctor.embedding_by_vector_search"))]
    try:
        embedder = create_embedder(settings)
        vectors = await asyncio.to_thread(embedder.embed, ["知恵"])
    except EmbeddingError as error:
        fix = "unset CHIE_EMBEDDING_URL" if settings.embedding_url else repair_chie()
        return [Finding(EMBEDDING, "problem", error.reason, fix)]
    message = Message("doctor.embedding_ok", model=embedder.id, dimensions=vectors.shape[1])
    return [Finding(EMBEDDING, "ok", message)]


async def check_models() -> Sequence[Finding]:
    """Every endpoint that is configured or was added in the page, and those that may run on this machine."""
    from chie.setup.endpoints import find_endpoints
    from chie.setup.settings import SetupSettings

    settings = load(SetupSettings)
    endpoints = find_endpoints(settings)
    results, bedrock, added = await asyncio.gather(
        asyncio.gather(*(endpoint.probe() for endpoint in endpoints)),
        _probe_bedrock(settings),
        check_added_endpoints(),
    )
    found = [_endpoint(endpoint, result, settings) for endpoint, result in zip(endpoints, results, strict=True)]
    if bedrock is not None:
        login = f"aws sso login --profile {settings.aws_profile}" if settings.aws_profile else "aws configure"
        found.append(_result("Amazon Bedrock", bedrock, login))
    found += added
    if all(finding.state != "ok" for finding in found):
        found.append(Finding("models", "warning", Message("doctor.no_model"), FIXES["openai"]))
    return found


async def _probe_bedrock(settings: "SetupSettings") -> "ProbeResult | None":
    from chie.setup.endpoints import probe_bedrock

    return await asyncio.to_thread(probe_bedrock, settings) if settings.has_aws else None


def _endpoint(endpoint: "Endpoint", result: "ProbeResult", settings: "SetupSettings") -> Finding:
    name = str(endpoint.name)
    if not result.ok and endpoint.url is None:
        return Finding(name, "off", Message("doctor.endpoint_not_configured"))
    configured = (settings.openai_base_url or "").rstrip("/") == endpoint.url
    if not result.ok and result.install is None and endpoint.id in DISCOVERED and not configured:
        return Finding(name, "off", Message("doctor.endpoint_not_running"))
    return _result(name, result, FIXES[endpoint.id])


def _result(name: str, result: "ProbeResult", fix: str) -> Finding:
    if result.problem is not None:
        return Finding(name, "problem", result.problem, result.install or fix)
    return Finding(name, "ok", Message("doctor.endpoint_ok", count=len(result.models), model=result.models[0]))
