"""A small OpenID Connect provider over a socket: it checks what a real one checks, and can lie in every way that matters."""

import hashlib
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "rubrica-test", "the secret: of+the%tests/é"


def make_rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@dataclass
class FakeIdentityProvider:
    """An identity provider that signs in the person in `person`. `lie` says what is wrong with its next token.

    `beside` is what its user-info endpoint tells about the person who has the access token.
    """

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=dict)
    lie: str = ""
    beside: dict[str, Any] | None = None
    key: rsa.RSAPrivateKey = field(default_factory=make_rsa_key)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def sign_in(self, location: str) -> dict[str, str]:
        """Sign in as a person does at the provider; return the query it sends the browser back with."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        return {"state": asked["state"], "code": code}

    def make_token(self, asked: dict[str, str]) -> str:
        """Make an ID token, a false one where `lie` says so."""
        now = int(time.time())
        claims = {
            "iss": "https://elsewhere.example" if self.lie == "issuer" else self.issuer,
            "aud": "somebody else" if self.lie == "audience" else CLIENT,
            "nonce": "another" if self.lie == "nonce" else asked["nonce"],
            "iat": now - 7_200 if self.lie == "expired" else now,
            "exp": now - 3_600 if self.lie == "expired" else now + 300,
            **self.person,
        }
        if self.lie == "no nonce":
            del claims["nonce"]
        if self.lie == "unsigned":
            return jwt.encode(claims, None, algorithm="none")
        if self.lie == "shared secret":
            return jwt.encode(claims, SECRET.ljust(32), algorithm="HS256", headers={"kid": "k"})
        return jwt.encode(
            claims, make_rsa_key() if self.lie == "signature" else self.key, algorithm="RS256", headers={"kid": "k"}
        )


@asynccontextmanager
async def serve_provider() -> AsyncIterator[FakeIdentityProvider]:
    """Serve a provider until the block ends."""
    provider = FakeIdentityProvider()

    async def description(_: web.Request) -> web.Response:
        base = provider.issuer
        return web.json_response(
            {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "jwks_uri": f"{base}/keys",
                "userinfo_endpoint": f"{base}/me",
            }
        )

    async def me(request: web.Request) -> web.Response:
        if request.headers["Authorization"] != "Bearer a":
            return web.json_response({"error": "invalid_token"}, status=401)
        return web.json_response(provider.beside or {})

    async def keys(_: web.Request) -> web.Response:
        public = RSAAlgorithm.to_jwk(provider.key.public_key(), as_dict=True)
        return web.json_response({"keys": [{**public, "kid": "k", "use": "sig", "alg": "RS256"}]})

    async def token(request: web.Request) -> web.Response:
        form = await request.post()
        asked = provider.codes.pop(str(form["code"]), None)
        sent = b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        credentials = tuple(unquote_plus(part) for part in sent.split(":"))
        challenge = urlsafe_b64encode(hashlib.sha256(str(form["code_verifier"]).encode()).digest()).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        if credentials != (CLIENT, SECRET):
            return web.json_response({"error": "invalid_client"}, status=401)
        return web.json_response({"access_token": "a", "token_type": "Bearer", "id_token": provider.make_token(asked)})

    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", description)
    app.router.add_get("/keys", keys)
    app.router.add_get("/me", me)
    app.router.add_post("/token", token)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    provider.issuer = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield provider
    finally:
        await runner.cleanup()
