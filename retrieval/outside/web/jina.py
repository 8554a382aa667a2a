"""The provider Jina Reader (r.jina.ai), which fetches a page's readable text for us."""

from dataclasses import dataclass, field

from pydantic import ValidationError

from app.domain.evidence import Source, snapshot_hash
from app.domain.safe_text import make_safe, make_safe_line
from app.outgoing.errors import AddressRefused
from app.outgoing.targets import check_target
from retrieval.language.dates import read_date
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import HttpExchange, HttpRequest
from retrieval.outside.web.ports import ProviderReply, strip_markup
from retrieval.ports import Document


class _Page(ProviderReply):
    url: str
    title: str | None = None
    content: str
    publishedTime: str | None = None


class _Answer(ProviderReply):
    data: _Page


@dataclass(frozen=True)
class JinaReader:
    """A `PageFetcher` that asks Jina. Jina learns every address, so addresses of the own network are refused here."""

    http: HttpExchange
    key: str = field(repr=False)
    url: str = "https://r.jina.ai"

    async def fetch(self, url: str) -> Document:
        """See `PageFetcher.fetch`; the text is Markdown."""
        address = _require_public(url)
        headers = {"Authorization": f"Bearer {self.key}"}
        body = await self.http.send(HttpRequest(f"{self.url}/", body={"url": address}, headers=headers, secret=self.key))
        try:
            page = _Answer.model_validate_json(body).data
        except ValidationError as error:
            raise CallFailed(Failure.GARBLED, "Jina Reader's answer has an unknown form") from error
        text = make_safe(page.content)
        if not text.strip():
            raise CallFailed(Failure.REFUSED, "Jina Reader found no text there")
        title = make_safe_line(strip_markup(page.title)) or page.url
        snapshot, published = snapshot_hash(text), read_date(page.publishedTime)
        source = Source(url=page.url, title=title, snapshot=snapshot, kind="web", published=published)
        return Document(source=source, text=text)


def _require_public(url: str) -> str:
    """Check the address as our own fetcher does, so that addresses of our network or with a user's name stay private."""
    try:
        return str(check_target(url))
    except AddressRefused as error:
        raise CallFailed(Failure.REFUSED, f"not an address of the public web ({error}): {url[:200]}") from error
