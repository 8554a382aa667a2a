"""A small web for tests: one host that stands for the public internet, one that nobody may reach, and names for both."""

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from app.outgoing.addresses import parse_networks
from bench.web_listeners import Listener, PageReply, ScriptedNames
from retrieval.fetch.fetching import FetchPolicy
from retrieval.fetch.limits import FetchLimits
from retrieval.fetch.web_reader import WebReader

PUBLIC, SECRET = "127.0.0.2", "127.0.0.3"
NAMES = {"site.example.org": [[PUBLIC]], "other.example.org": [[PUBLIC]], "inside.example.org": [[SECRET]]}


@dataclass
class SmallWeb:
    """Two listeners on one port, and the policy under which the first is public."""

    public: Listener
    secret: Listener
    port: int
    policy: FetchPolicy
    names: ScriptedNames

    def make_url(self, path: str, host: str = "site.example.org") -> str:
        """Return an address of this web."""
        return f"http://{host}:{self.port}{path}"

    def make_reader(self, limits: FetchLimits | None = None) -> WebReader:
        """Make a reader of this web."""
        return WebReader(replace(self.policy, limits=limits) if limits else self.policy)


@asynccontextmanager
async def serve_small_web(
    replies: Mapping[str, PageReply] | None = None,
    names: Mapping[str, Sequence[Sequence[str]]] = NAMES,
    tls: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
) -> AsyncIterator[SmallWeb]:
    """Serve the web until the block ends. `tls` are the server's and the client's context."""
    public, secret = Listener(dict(replies or {})), Listener({"/": PageReply(b"<p>secret</p>")})
    port = await public.start(PUBLIC, 0, tls[0] if tls else None)
    await secret.start(SECRET, port)
    scripted = ScriptedNames(names)
    policy = FetchPolicy(
        user_agent="RubricaBot/test",
        ports=frozenset({port}),
        permitted=parse_networks(f"{PUBLIC}/32"),
        lookup=scripted,
        tls=tls[1] if tls else None,
    )
    try:
        yield SmallWeb(public, secret, port, policy, scripted)
    finally:
        await public.stop()
        await secret.stop()
