"""A fake OIDC provider on loopback: discovery, keys, and tokens of every kind, valid or not."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

AUDIENCE = "chie"


@dataclass
class Provider:
    """`asked` counts how often the keys were fetched; if `failing`, responses are 500; all wait until it is `awake`."""

    issuer: str = ""
    keys: dict[str, Any] = field(default_factory=dict)
    asked: int = 0
    failing: bool = False
    awake: Event = field(default_factory=Event)
    answered: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.awake.set()

    def add_key(self, kid: str, *, kind: str = "RSA") -> None:
        private: Any = (
            rsa.generate_private_key(public_exponent=65537, key_size=2048)
            if kind == "RSA"
            else ec.generate_private_key(ec.SECP256R1())
        )
        self.keys[kid] = private

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        made = {"iss": self.issuer, "aud": AUDIENCE, "sub": "aki", "iat": now, "exp": now + 600} | changes
        return {name: value for name, value in made.items() if value is not None}

    def token(self, kid: str = "one", *, headers: dict[str, Any] | None = None, **changes: Any) -> str:
        key = self.keys[kid]
        algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(self.claims(**changes), key, algorithm, headers={"kid": kid} | (headers or {}))

    def public_pem(self, kid: str = "one") -> bytes:
        pem: bytes = self.keys[kid].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return pem

    def jwks(self) -> dict[str, Any]:
        rows = []
        for kid, key in self.keys.items():
            kind: Any = (
                jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
            )
            algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
            rows.append({**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig", "alg": algorithm})
        others = [{"kty": "oct", "k": "AA", "kid": "shared"}, {"kty": "EC", "crv": "unheard-of", "kid": "odd"}]
        return {"keys": [*others, *rows]}

    def answer(self, path: str) -> dict[str, Any] | None:
        if self.failing:
            return None
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"}
        if path == "/keys":
            self.asked += 1
            return self.jwks()
        return None


@contextmanager
def provider() -> Iterator[Provider]:
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.awake.wait(30)
            body = made.answer(self.path)
            self.send_response(500 if body is None else 200)
            content = json.dumps(body).encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(OSError):  # the client may have disconnected
                self.wfile.write(content)
            made.answered.set()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.issuer = f"http://127.0.0.1:{server.server_port}"
    made.add_key("one")
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
