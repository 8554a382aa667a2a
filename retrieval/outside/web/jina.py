"""Jina Reader (r.jina.ai): a page's readable text, fetched by somebody else."""

from dataclasses import dataclass, field

from pydantic import ValidationError

from app.domain.evidence import Source, snapshot_hash
from app.outgoing.errors import AddressRefused
from app.outgoing.targets import target
from retrieval.language.dates import read_date
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import Http, HttpRequest
from retrieval.outside.web.ports import Reply, plain
from retrieval.ports import Document


class _Page(Reply):
    url: str
    title: str | None = None
    content: str
    publishedTime: str | None = None


class _Answer(Reply):
    data: _Page


@dataclass(frozen=True)
class JinaReader:
    """`PageFetcher` by Jina. It tells Jina every address that is read, so addresses of one's own network are refused here."""

    http: Http
    key: str = field(repr=False)
    url: str = "https://r.jina.ai"

    async def fetch(self, url: str) -> Document:
        """See `PageFetcher.fetch`; the text is Markdown."""
        address = _public(url)
        headers = {"Authorization": f"Bearer {self.key}"}
        body = await self.http.send(HttpRequest(f"{self.url}/", body={"url": address}, headers=headers, secret=self.key))
        try:
            page = _Answer.model_validate_json(body).data
        except ValidationError as error:
            raise CallFailed(Failure.GARBLED, "Jina Reader's answer makes no sense") from error
        if not page.content.strip():
            raise CallFailed(Failure.REFUSED, "Jina Reader found no text there")
        title = plain(page.title) or page.url
        snapshot, published = snapshot_hash(page.content), read_date(page.publishedTime)
        source = Source(url=page.url, title=title, snapshot=snapshot, kind="web", published=published)
        return Document(source=source, text=page.content)


def _public(url: str) -> str:
    """The address as our own fetcher would ask for it: one that leads into our network or names a user is told nobody."""
    try:
        return str(target(url))
    except AddressRefused as error:
        raise CallFailed(Failure.REFUSED, f"not an address of the public web ({error}): {url[:200]}") from error
