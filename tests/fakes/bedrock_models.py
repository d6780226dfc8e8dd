"""The lists of Amazon Bedrock's control plane: models, and inference profiles on two pages."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.loopback import Handler, Loopback

PROFILES = ["global.anthropic.claude-sonnet-5", "jp.anthropic.claude-haiku-4-5-20251001-v1:0"]
MODELS: list[dict[str, Any]] = [
    {"modelId": "amazon.nova-lite-v1:0", "modelLifecycle": {"status": "ACTIVE"}, "responseStreamingSupported": True},
    {"modelId": "amazon.titan-old", "modelLifecycle": {"status": "LEGACY"}, "responseStreamingSupported": True},
    {"modelId": "amazon.titan-embed-text-v2:0", "modelLifecycle": {"status": "ACTIVE"}},
]


class _Handler(Handler):
    owner: "BedrockModels"

    def get(self) -> None:
        parts = urlsplit(self.path)
        self.owner.seen.append(self.path)
        self.owner.authorization = self.headers.get("authorization")
        if self.owner.denied:
            self._send(403, {"message": "not authorized to perform bedrock:ListFoundationModels"})
        elif parts.path == "/foundation-models":
            self._send(200, {"modelSummaries": MODELS})
        else:
            last = "nextToken" in parse_qs(parts.query)
            page = {"inferenceProfileSummaries": [_profile(PROFILES[1 if last else 0])]}
            self._send(200, page if last else {**page, "nextToken": "2"})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        if status != 200:
            self.send_header("x-amzn-errortype", "AccessDeniedException")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _profile(name: str) -> dict[str, Any]:
    return {"inferenceProfileId": name, "inferenceProfileName": name, "status": "ACTIVE", "type": "SYSTEM_DEFINED"}


class BedrockModels(Loopback):
    handler = _Handler

    def __init__(self, *, denied: bool = False) -> None:
        self.denied = denied
        self.seen: list[str] = []
        self.authorization: str | None = None
